package world

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/gocarina/gocsv"

	"github.com/antipode-bench/antipode"
)

// Sizes of a full segment, in bytes: the links have an MTU of 1500, and TCP
// uses the time-stamp option, which leaves 1448.
const (
	segmentBytes = 1500
	headBytes    = 52
)

// What one connection can have in flight with the stock Linux limits:
// net.ipv4.tcp_wmem allows 4 MiB of send memory, which held 2.9 MB of payload when it
// was measured (116 Mbit/s at 200 ms). The stock receive window is larger, so
// the send buffer binds first.
const (
	stockSendBuffer = 4 << 20
	sendBufferShare = 2.9e6 / stockSendBuffer // of it that is payload
)

// Test is how pairs are measured. The zero Test is one TCP flow of buffers of
// stock size, which sends all it can.
type Test struct {
	Streams            int
	SendBufferBytes    float64 // of each, as the kernel counts; 0 is stock
	ReceiveWindowBytes float64 // that each is offered at most; 0 is no limit
	MSSBytes           int     // TCP options included; 0 is what fits the path
	PacingBps          float64 // bit/s of payload that the sender's kernel does not exceed; 0 is no limit
	RateBps            float64 // bit/s of payload that the application offers; 0 is no limit
}

// Row is what a perfect measurement of one directed pair would say, between two
// machines that do nothing else.
type Row struct {
	FromCloud  string  `csv:"from_cloud"`
	FromRegion string  `csv:"from_region"`
	ToCloud    string  `csv:"to_cloud"`
	ToRegion   string  `csv:"to_region"`
	RTTMs      float64 `csv:"rtt_ms"`
	GoodputBps float64 `csv:"goodput_bps"` // TCP payload, bit/s
	LimitedBy  string  `csv:"limited_by"`  // "rate-cap", "flow-cap", "send-buffer", "receive-window" or "application"
}

// Truth is a row per directed pair of different regions, in the order of the
// file. machineTypes names the machine type used in each region, by its id, or else
// by its cloud; a region that is not in it has machines of its own rates.
//
// Loss is not in it, nor reordering, nor what a policer costs beyond its rate:
// what a flow makes of these depends on its congestion control. A machine with
// a baseline is taken to have spent its burst.
func (w *World) Truth(machineTypes map[string]string, test Test) []Row {
	var rows []Row
	for _, from := range w.Regions {
		for _, to := range w.Regions {
			if from.ID != to.ID {
				rows = append(rows, w.truth(from.ID, to.ID, machineTypes, test))
			}
		}
	}
	return rows
}

func (w *World) truth(from, to string, machineTypes map[string]string, test Test) Row {
	var row Row
	row.FromCloud, row.FromRegion, _ = antipode.SplitID(from)
	row.ToCloud, row.ToRegion, _ = antipode.SplitID(to)
	forth, back := w.Path(from, to), w.Path(to, from)
	row.RTTMs = forth.DelayMs + back.DelayMs

	sender := w.Machine(from, cmp.Or(machineTypes[from], machineTypes[row.FromCloud]))
	receiver := w.Machine(to, cmp.Or(machineTypes[to], machineTypes[row.ToCloud]))
	share := forth.payloadShare(test)
	row.GoodputBps = math.Inf(1)
	limit := func(by string, bps float64) {
		if bps > 0 && bps < row.GoodputBps {
			row.LimitedBy, row.GoodputBps = by, bps
		}
	}
	limit("rate-cap", share*lowestLimit(sender.EgressBps, sender.BaselineBps, receiver.IngressBps, receiver.BaselineBps, forth.PoliceBps))
	test.limit(limit, share*forth.FlowBps, row.RTTMs)
	row.RTTMs = math.Round(row.RTTMs*1e4) / 1e4
	row.GoodputBps = math.Round(row.GoodputBps)
	return row
}

// limit tells what each flow, and what was asked for, leaves of a path; 0 is no
// limit. What holds two things down in the same way is the first's.
func (t Test) limit(limit func(by string, bps float64), flowBps, rttMs float64) {
	streams := float64(max(t.Streams, 1))
	window := func(bytes float64) float64 { return streams * bytes * 8 / (rttMs / 1000) }
	limit("flow-cap", streams*flowBps)
	limit("send-buffer", window(sendBufferShare*cmp.Or(t.SendBufferBytes, stockSendBuffer)))
	limit("receive-window", window(t.ReceiveWindowBytes))
	limit("rate-cap", t.PacingBps)
	limit("application", t.RateBps)
}

// payloadShare is how much of a full segment is payload. A path of small MTU
// that does not say so carries none at all, which is not the truth's concern.
func (p Path) payloadShare(t Test) float64 {
	const ipAndTCP = 40
	segment := float64(segmentBytes)
	if t.MSSBytes > headBytes-ipAndTCP {
		segment = min(segment, float64(t.MSSBytes+ipAndTCP))
	}
	if p.MTUBytes > headBytes {
		segment = min(segment, float64(p.MTUBytes))
	}
	return (segment - headBytes) / segment
}

// FlowFor is the rate of a flow, from the IP header on, that carries so much TCP
// payload in full segments; both in bit/s.
func FlowFor(goodputBps float64) float64 { return goodputBps / Path{}.payloadShare(Test{}) }

// lowestLimit is the smallest of rates, of which 0 means no limit: +Inf if none has one.
func lowestLimit(rates ...float64) float64 {
	lowest := math.Inf(1)
	for _, r := range rates {
		if r > 0 {
			lowest = min(lowest, r)
		}
	}
	return lowest
}

// WriteCSV writes the rows with a header.
func WriteCSV(out io.Writer, rows []Row) error {
	if err := gocsv.Marshal(rows, out); err != nil {
		return fmt.Errorf("write truth: %w", err)
	}
	return nil
}
