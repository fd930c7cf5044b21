package main

import (
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/orchestrator"
)

func TestUDPFlags(t *testing.T) {
	for name, c := range map[string]struct {
		flags  udpFlags
		want   orchestrator.UDPTest
		length time.Duration
		wrong  string
	}{
		"none":    {udpFlags{0, time.Second}, orchestrator.UDPTest{}, 0, ""},
		"wanted":  {udpFlags{50e6, 2 * time.Second}, orchestrator.UDPTest{RateBps: 50e6, Duration: 2 * time.Second}, 3 * time.Second, ""},
		"slow":    {udpFlags{999, time.Second}, orchestrator.UDPTest{}, 0, "--udp-rate 999"},
		"fast":    {udpFlags{1e14, time.Second}, orchestrator.UDPTest{}, 0, "--udp-rate 1000"},
		"short":   {udpFlags{50e6, time.Millisecond}, orchestrator.UDPTest{}, 0, "--udp-duration 1ms"},
		"endless": {udpFlags{50e6, 2 * time.Hour}, orchestrator.UDPTest{}, 0, "--udp-duration 2h"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.flags.check()
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("check = %v, want %q", err, c.wrong)
				}
				return
			}
			if got := c.flags.test(); err != nil || got != c.want || c.flags.length() != c.length {
				t.Errorf("%+v, %v long, %v; want %+v, %v", got, c.flags.length(), err, c.want, c.length)
			}
		})
	}
}
