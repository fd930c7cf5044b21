package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/units"
)

// udpFlags add a UDP throughput test to each pair.
type udpFlags struct {
	rate     units.BitRate
	duration time.Duration
}

func (f *udpFlags) register(flags *pflag.FlagSet) {
	flags.Var(&f.rate, "udp-rate", "also send datagrams at `RATE` bit/s, for example 50M, after each throughput test (0: none)")
	flags.DurationVar(&f.duration, "udp-duration", 2*time.Second, "send these for `TIME`, 100ms to 1h")
}

func (f udpFlags) check() error {
	switch rate := float64(f.rate); {
	case rate == 0:
		return nil
	case rate < wire.MinRateBps || rate > wire.MaxRateBps:
		return usageError("--udp-rate %v: not 1k to 10T bit/s", &f.rate)
	case f.duration < 100*time.Millisecond || f.duration > time.Hour:
		return usageError("--udp-duration %v: not 100ms to 1h", f.duration)
	}
	return nil
}

func (f udpFlags) test() orchestrator.UDPTest {
	if f.rate == 0 {
		return orchestrator.UDPTest{}
	}
	return orchestrator.UDPTest{RateBps: float64(f.rate), Duration: f.duration}
}

// bytes is what a pair sends for it, datagrams' headers not counted.
func (f udpFlags) bytes() float64 { return float64(f.rate) / 8 * f.duration.Seconds() }

// length is how long a pair takes for it, with setting it up and waiting for
// the last datagrams.
func (f udpFlags) length() time.Duration {
	if f.rate == 0 {
		return 0
	}
	return f.duration + time.Second
}
