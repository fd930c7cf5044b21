//go:build linux

package main

import (
	"github.com/spf13/pflag"

	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/units"
)

// socketFlags say who sends a TCP throughput test, and with what sockets.
type socketFlags struct {
	reverse, bidirectional bool

	sendBuffer, receiveWindow units.ByteCount
	mss, dscp, port           int
	noDelay                   bool
	pacing, rate              units.BitRate
}

// socketFlagNames are those that mean nothing to UDP.
var socketFlagNames = []string{"reverse", "bidirectional", "send-buffer", "receive-window", "mss", "dscp", "client-port", "no-delay", "pacing"}

func (f *socketFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.reverse, "reverse", false, "the peer sends")
	flags.BoolVar(&f.bidirectional, "bidirectional", false, "both send at the same time")
	flags.Var(&f.sendBuffer, "send-buffer", "`BYTES` of the sender's buffer for each stream (default what the kernel finds right)")
	flags.Var(&f.receiveWindow, "receive-window", "the most `BYTES` that the receiver offers each stream (default likewise)")
	flags.IntVar(&f.mss, "mss", 0, "largest TCP segment, `BYTES` with the TCP options: 88 to 32767 (default what fits the path)")
	flags.BoolVar(&f.noDelay, "no-delay", false, "send small segments at once (TCP_NODELAY)")
	flags.IntVar(&f.dscp, "dscp", 0, "`N`, 0 to 63, marks the data packets")
	flags.Var(&f.pacing, "pacing", "`RATE` in bit/s that the sender's kernel does not exceed, all streams together")
	flags.IntVar(&f.port, "client-port", 0, "first stream comes from this local `PORT`, the others from the next ones")
}

func (f *socketFlags) check() error {
	if f.reverse && f.bidirectional {
		return misused("--reverse and --bidirectional: one or the other")
	}
	return nil
}

func (f *socketFlags) options() wire.TCPOptions {
	return wire.TCPOptions{
		SendBufferBytes: int64(f.sendBuffer), ReceiveWindowBytes: int64(f.receiveWindow), MSSBytes: f.mss, NoDelay: f.noDelay,
		DSCP: f.dscp, PacingBps: float64(f.pacing), RateBps: float64(f.rate), ClientPort: f.port,
	}
}
