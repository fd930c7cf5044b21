//go:build linux

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/units"
)

// udpFlags ask for a UDP throughput test instead of TCP's.
type udpFlags struct {
	wanted    bool
	rate      units.BitRate
	datagram  int
	noOffload bool
}

func (f *udpFlags) register(flags *pflag.FlagSet) {
	f.rate = 100e6
	flags.BoolVar(&f.wanted, "udp", false, "measure UDP throughput instead of TCP's")
	flags.Var(&f.rate, "rate", "payload to offer, for example 50M bit/s, in small writes or datagrams (default over TCP no limit); 0 as fast as the receiver reads")
	flags.IntVar(&f.datagram, "datagram", 0, "`BYTES` of UDP payload in each datagram, 24 to 65507 (default what fits the path, at most 1448)")
	flags.BoolVar(&f.noOffload, "no-offload", false, "datagrams one by one, without segmentation offload: for an honest number of packets per second")
}

// check finds flags that say nothing of the test that is wanted.
func (f *udpFlags) check(flags *pflag.FlagSet) error {
	idle := append([]string{"streams", "congestion-control"}, socketFlagNames...)
	if !f.wanted {
		idle = []string{"datagram", "no-offload"}
	}
	for _, name := range idle {
		switch {
		case !flags.Changed(name):
		case f.wanted:
			return misused("--%s is for TCP: not together with --udp", name)
		default:
			return misused("--%s needs --udp", name)
		}
	}
	return nil
}

// request asks for what tput would, over UDP.
func (f *udpFlags) request(tput wire.Throughput) wire.UDP {
	return wire.UDP{Peer: tput.Peer, RateBps: float64(f.rate), DatagramBytes: f.datagram,
		Bytes: tput.Bytes, DurationMs: tput.DurationMs, Offload: !f.noOffload, DeadlineMs: tput.DeadlineMs, SampleMs: tput.SampleMs}
}

// udpPart is what a report says of it.
type udpPart struct {
	TargetBps     float64  `json:"udp_target_bps"` // 0: as fast as it goes
	GoodputBps    float64  `json:"udp_goodput_bps"`
	PacketsPerS   float64  `json:"udp_packets_per_s"`
	DatagramBytes int      `json:"udp_datagram_bytes"`
	LossRatio     float64  `json:"udp_loss_ratio"`
	Reordered     int64    `json:"udp_reordered"`
	Duplicates    int64    `json:"udp_duplicates"`
	JitterMs      float64  `json:"udp_jitter_ms"`
	Offload       bool     `json:"udp_offload"`
	Sent          int64    `json:"udp_sent"`
	Received      int64    `json:"udp_received"`
	DurationS     float64  `json:"udp_duration_s"`
	Flags         []string `json:"udp_flags"`
}

// addUDP takes a result, which is nil when nothing was received.
func (r *report) addUDP(m *wire.UDPResult) {
	if m == nil {
		return
	}
	r.udpPart = &udpPart{m.TargetBps, m.GoodputBps, m.PacketsPerS, m.DatagramBytes, m.LossRatio, m.Reordered,
		m.Duplicates, m.JitterMs, m.Offload, m.Sent, m.Received, m.DurationS, append([]string{}, m.Flags...)}
}

func (m *udpPart) text() string {
	asked, offload := "as fast as it goes", "without"
	if m.TargetBps > 0 {
		asked = "of " + units.Rate(m.TargetBps)
	}
	if m.Offload {
		offload = "with"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "UDP         %s, %s; %s datagrams/s of %d bytes, over %.2f s, %s segmentation offload\n",
		units.Rate(m.GoodputBps), asked, units.Thousands(fmt.Sprintf("%.0f", m.PacketsPerS)), m.DatagramBytes, m.DurationS, offload)
	fmt.Fprintf(&b, "received    %s of %s datagrams: %s lost, %s reordered, %s twice; jitter %s\n",
		number(m.Received), number(m.Sent), percent(m.LossRatio), number(m.Reordered), number(m.Duplicates), units.Milliseconds(m.JitterMs))
	if len(m.Flags) > 0 {
		fmt.Fprintf(&b, "remarks     %s\n", strings.Join(m.Flags, ", "))
	}
	return b.String()
}

func number(n int64) string { return units.Thousands(fmt.Sprint(n)) }
