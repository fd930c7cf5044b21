package main

import (
	"math"
	"time"

	"github.com/spf13/pflag"

	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/units"
)

// What --stop lets end a throughput test.
const (
	stopAdaptive = "adaptive"
	stopDuration = "duration"
	stopBytes    = "bytes"
)

// stopFlags say when a throughput test ends.
type stopFlags struct {
	by           string
	errorPercent float64
	duration     time.Duration
	bytes        units.ByteCount
}

func (f *stopFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.by, "stop", stopAdaptive, "`WHAT` ends a throughput test: adaptive (as soon as its steady rate is known), duration or bytes")
	flags.Float64Var(&f.errorPercent, "error-percent", 5, "adaptive: the rate is known when its 95 % confidence interval is within `P` percent, 0.5 to 50")
	flags.DurationVar(&f.duration, "duration", 10*time.Second, "send for `TIME`, at most 1h; an adaptive test at most so long (0: until --bytes are sent, at most 1m)")
	flags.Var(&f.bytes, "bytes", "send `BYTES`, for example 100MB; an adaptive test at most so many (0: no limit)")
}

// settle leaves out the usual time of a test that bytes end.
func (f *stopFlags) settle(flags *pflag.FlagSet) {
	if f.by == stopBytes && !flags.Changed("duration") {
		f.duration = 0
	}
}

func (f *stopFlags) check() error {
	switch {
	case f.by != stopAdaptive && f.by != stopDuration && f.by != stopBytes:
		return usageError("--stop %.40s: not adaptive, duration or bytes", f.by)
	case f.by == stopBytes && f.bytes == 0:
		return usageError("--stop bytes: how many? Say it with --bytes")
	case f.by == stopDuration && f.duration == 0:
		return usageError("--stop duration: needs a --duration above zero")
	case f.duration < 0 || f.duration == 0 && f.bytes == 0:
		return usageError("--duration %v: needs a time above zero, or --bytes", f.duration)
	case f.duration != 0 && f.duration < time.Millisecond || f.duration > time.Hour:
		return usageError("--duration %v: not 1ms to 1h", f.duration)
	case !(f.errorPercent >= 100*wire.MinErrorRatio && f.errorPercent <= 100*wire.MaxErrorRatio):
		return usageError("--error-percent %v: not 0.5 to 50", f.errorPercent)
	}
	return nil
}

// errorRatio is 0 for a test that does not end by itself.
func (f *stopFlags) errorRatio() float64 {
	if f.by != stopAdaptive {
		return 0
	}
	return f.errorPercent / 100
}

// length of a test that its time does not end is a guess.
func (f *stopFlags) length() time.Duration {
	switch {
	case f.by == stopAdaptive && f.duration > 0:
		return min(f.duration, usualAdaptive)
	case f.duration > 0:
		return f.duration
	}
	return max(5*time.Second, time.Duration(math.Round(float64(f.bytes)*8/100e6))*time.Second) // at 100 Mbit/s
}

// usualAdaptive is how long an adaptive test takes between continents.
const usualAdaptive = 3 * time.Second
