package allowance

import (
	"strings"
	"testing"
)

func TestCapOf(t *testing.T) {
	if c, ok := CapOf("gcp", "n2-standard-2"); !ok || c.MachineBps != 7e9 || c.PrivateBps != 10e9 || c.FlowBps != 3e9 {
		t.Errorf("n2-standard-2: %+v, %v", c, ok)
	}
	if c, ok := CapOf("aws", "gcp-type"); ok {
		t.Errorf("unknown type: %+v", c)
	}
}

// Every type that has an allowance has a cap, which no burst gets past.
func TestCapsCoverAllowances(t *testing.T) {
	for key, a := range embedded() {
		if c, ok := CapOf(key[0], key[1]); !ok || c.MachineBps > a.BurstBps {
			t.Errorf("%v: cap %+v, %v; allowance %+v", key, c, ok, a)
		}
	}
}

func TestParseCapsRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no type":       {"- {cloud: aws, machine_bps: 1, flow_bps: 1}", "a.yaml:1: cloud or type is missing"},
		"no flow":       {"- {cloud: aws, type: t, machine_bps: 1}", "a.yaml:1: t: machine_bps 1 and flow_bps 0"},
		"flow too fast": {"- {cloud: aws, type: t, machine_bps: 1, flow_bps: 2}", "no more for a flow"},
		"twice":         {"- {cloud: aws, type: t, machine_bps: 1, flow_bps: 1}\n- {cloud: aws, type: t, machine_bps: 1, flow_bps: 1}", "a.yaml:2: aws t is there twice"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseCaps("a.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}
