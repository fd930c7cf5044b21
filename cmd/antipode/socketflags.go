package main

import (
	"cmp"
	"math"

	"github.com/spf13/pflag"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/units"
)

// socketFlags say with what sockets throughput is measured, by the names that
// antipode-probe test has for them.
type socketFlags struct {
	sendBuffer, receiveWindow units.ByteCount
	mss, dscp                 int
	clientPort, probePort     int
	noDelay                   bool
	pacing, rate              units.BitRate
	bidirectional             bool
	isolated                  string // plan.Isolation
}

func (f *socketFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.bidirectional, "bidirectional", false, "measure the throughput of a pair's both directions at the same time; without it each is measured alone")
	flags.StringVar(&f.isolated, "isolation", string(plan.Duplex), "a machine takes part in `ONE` throughput test each way at a time (duplex), in one (host), or in all of its own at once (none)")
	flags.Var(&f.sendBuffer, "send-buffer", "`BYTES` of the sender's buffer for each stream (default what the kernel finds right)")
	flags.Var(&f.receiveWindow, "receive-window", "the most `BYTES` that the receiver offers each stream (default likewise)")
	flags.IntVar(&f.mss, "mss", 0, "largest TCP segment, `BYTES` with the TCP options: 88 to 32767 (default what fits the path)")
	flags.BoolVar(&f.noDelay, "no-delay", false, "send small segments at once (TCP_NODELAY)")
	flags.IntVar(&f.dscp, "dscp", 0, "`N`, 0 to 63, marks the data packets")
	flags.Var(&f.pacing, "pacing", "`RATE` in bit/s that the sender's kernel does not exceed, all streams together (default no limit)")
	flags.Var(&f.rate, "rate", "TCP payload that the sender offers in small writes, for example 50M bit/s (default no limit)")
	flags.IntVar(&f.clientPort, "client-port", 0, "first stream comes from this local `PORT`, 1024 or more, the others from the next ones (default any)")
	flags.IntVar(&f.probePort, "probe-port", wire.DefaultPort, "machines measure over this `PORT`, TCP and UDP, 1024 to 65535")
}

// leastPort is the first that an ordinary user of a machine may have.
const leastPort = 1024

func (f *socketFlags) check(streams int) error {
	bytes := func(n units.ByteCount) bool { return n == 0 || n >= wire.MinBufferBytes && n <= wire.MaxBufferBytes }
	rate := func(r units.BitRate) bool { return r == 0 || r >= wire.MinRateBps && r <= wire.MaxRateBps }
	last := f.clientPort + streams - 1
	switch {
	case !bytes(f.sendBuffer):
		return usageError("--send-buffer %v: not 2KiB to 1GiB", &f.sendBuffer)
	case !bytes(f.receiveWindow):
		return usageError("--receive-window %v: not 2KiB to 1GiB", &f.receiveWindow)
	case f.mss != 0 && (f.mss < wire.MinMSSBytes || f.mss > wire.MaxMSSBytes):
		return usageError("--mss %d: not %d to %d", f.mss, wire.MinMSSBytes, wire.MaxMSSBytes)
	case f.dscp < 0 || f.dscp > wire.MaxDSCP:
		return usageError("--dscp %d: not 0 to %d", f.dscp, wire.MaxDSCP)
	case !rate(f.pacing):
		return usageError("--pacing %v: not 1k to 10T bit/s", &f.pacing)
	case !rate(f.rate):
		return usageError("--rate %v: not 1k to 10T bit/s", &f.rate)
	case f.probePort < leastPort || f.probePort > 65535:
		return usageError("--probe-port %d: not %d to 65535", f.probePort, leastPort)
	case f.clientPort != 0 && (f.clientPort < leastPort || last > 65535):
		return usageError("--client-port %d: not %d to %d, for %s", f.clientPort, leastPort, 65535-streams+1, plural(streams, "stream"))
	case f.clientPort != 0 && f.clientPort <= f.probePort && f.probePort <= last:
		return usageError("--client-port %d: %s would need port %d too, which is the probe's own (--probe-port)", f.clientPort, plural(streams, "stream"), f.probePort)
	}
	return nil
}

func (f *socketFlags) options() wire.TCPOptions {
	return wire.TCPOptions{
		SendBufferBytes: int64(f.sendBuffer), ReceiveWindowBytes: int64(f.receiveWindow), MSSBytes: f.mss, NoDelay: f.noDelay,
		DSCP: f.dscp, PacingBps: float64(f.pacing), RateBps: float64(f.rate), ClientPort: f.clientPort,
	}
}

// isolation is what a machine does at a time.
func (f *socketFlags) isolation() plan.Isolation {
	if f.bidirectional {
		return plan.Together
	}
	return plan.Isolation(f.isolated)
}

// mostAtOnce is how many peers a machine is tested with at the same time, each way: a
// probe takes part in 64 tests at once.
const mostAtOnce = 32

// checkIsolation finds what is no isolation, or what machines can't do.
func (f *sweepFlags) checkIsolation(pairs []plan.Pair) error {
	switch plan.Isolation(f.sockets.isolated) {
	case plan.Duplex, plan.Host:
	case plan.None:
		if n := min(len(plan.RegionsOf(pairs)), cmp.Or(f.batchSize, math.MaxInt)); n > mostAtOnce+1 {
			return usageError("--isolation none: a machine can be tested with %d others at once, not with %d; choose fewer regions (--max-regions, --batch-size), or duplex", mostAtOnce, n-1)
		}
	default:
		return usageError("--isolation %.40s: not duplex, host or none", f.sockets.isolated)
	}
	if f.sockets.bidirectional && plan.Isolation(f.sockets.isolated) != plan.Duplex {
		return usageError("--isolation %s: with --bidirectional a machine takes part in one pair's two tests at a time; leave one of them out", f.sockets.isolated)
	}
	return nil
}

// checkBidirectional finds tests whose directions would not last equally long.
func (f *sweepFlags) checkBidirectional() error {
	switch {
	case !f.sockets.bidirectional:
		return nil
	case f.stop.by != stopDuration:
		return usageError("--bidirectional: both directions of a pair must last equally long, which --stop %s does not promise; leave it out, or say --stop duration", f.stop.by)
	case f.stop.bytes != 0:
		return usageError("--bidirectional: both directions of a pair must last equally long, which --bytes does not promise; say --duration instead")
	}
	return nil
}

// checkFlow finds tests after which a second flow would tell nothing.
func (f *sweepFlags) checkFlow() error {
	switch {
	case !f.flowCheck:
		return nil
	case f.streams != 1:
		return usageError("--flow-check: tells what limits one stream; leave out --streams %d", f.streams)
	case f.stop.bytes != 0:
		return usageError("--flow-check: sends more than --bytes allows; say --duration instead")
	case f.sockets.bidirectional:
		return usageError("--flow-check: a second flow would meet the other direction; leave out --bidirectional")
	}
	return nil
}

// checkMutual finds pairs whose other direction was not chosen.
func (f *sweepFlags) checkMutual(pairs []plan.Pair) error {
	if !f.sockets.bidirectional {
		return nil
	}
	chosen := map[plan.Pair]bool{}
	for _, p := range pairs {
		chosen[p] = true
	}
	for _, p := range pairs {
		if back := (plan.Pair{From: p.To, To: p.From}); !chosen[back] {
			return usageError("--bidirectional: the pair %s is chosen without %s; choose that too, or leave --bidirectional out", p, back)
		}
	}
	return nil
}

// settle fills in what depends on which flags were given.
func (f *sweepFlags) settle(flags *pflag.FlagSet) {
	if f.sockets.bidirectional && !flags.Changed("stop") {
		f.stop.by = stopDuration
	}
	f.stop.settle(flags)
	f.repeat.settle(flags)
}
