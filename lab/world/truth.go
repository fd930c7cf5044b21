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

// stockWindowBytes is the TCP payload one connection can have in flight with
// the stock Linux limits: net.ipv4.tcp_wmem allows 4 MiB of send memory, which
// held 2.9 MB of payload when it was measured (116 Mbit/s at 200 ms). The stock
// receive window is larger, so the send buffer binds first.
const stockWindowBytes = 2.9e6

// Row is what a perfect measurement of one directed pair would say: one TCP
// flow between two machines that do nothing else, buffers of stock size.
type Row struct {
	FromCloud  string  `csv:"from_cloud"`
	FromRegion string  `csv:"from_region"`
	ToCloud    string  `csv:"to_cloud"`
	ToRegion   string  `csv:"to_region"`
	RTTMs      float64 `csv:"rtt_ms"`
	GoodputBps float64 `csv:"goodput_bps"` // TCP payload, bit/s
	LimitedBy  string  `csv:"limited_by"`  // "rate-cap", "flow-cap" or "send-buffer"
}

// Truth is a row per directed pair of different regions, in the order of the
// file. machineTypes names the machine type used in each region, by its id, or else
// by its cloud; a region that is not in it has machines of its own rates.
//
// Loss is not in it, nor reordering, nor what a policer costs beyond its rate:
// what a flow makes of these depends on its congestion control. A machine with
// a baseline is taken to have spent its burst.
func (w *World) Truth(machineTypes map[string]string) []Row {
	var rows []Row
	for _, from := range w.Regions {
		for _, to := range w.Regions {
			if from.ID != to.ID {
				rows = append(rows, w.truth(from.ID, to.ID, machineTypes))
			}
		}
	}
	return rows
}

func (w *World) truth(from, to string, machineTypes map[string]string) Row {
	var row Row
	row.FromCloud, row.FromRegion, _ = antipode.SplitID(from)
	row.ToCloud, row.ToRegion, _ = antipode.SplitID(to)
	forth, back := w.Path(from, to), w.Path(to, from)
	row.RTTMs = forth.DelayMs + back.DelayMs

	sender := w.Machine(from, cmp.Or(machineTypes[from], machineTypes[row.FromCloud]))
	receiver := w.Machine(to, cmp.Or(machineTypes[to], machineTypes[row.ToCloud]))
	machine := lowestLimit(sender.EgressBps, sender.BaselineBps, receiver.IngressBps, receiver.BaselineBps, forth.PoliceBps)
	rate := lowestLimit(machine, forth.FlowBps)
	row.LimitedBy = "rate-cap"
	if rate < machine {
		row.LimitedBy = "flow-cap"
	}
	row.GoodputBps = rate * forth.payloadShare()
	if window := stockWindowBytes * 8 / (row.RTTMs / 1000); window < row.GoodputBps {
		row.GoodputBps, row.LimitedBy = window, "send-buffer"
	}
	row.RTTMs = math.Round(row.RTTMs*1e4) / 1e4
	row.GoodputBps = math.Round(row.GoodputBps)
	return row
}

// payloadShare is how much of a full segment is payload. A path of small MTU
// that does not say so carries none at all, which is not the truth's concern.
func (p Path) payloadShare() float64 {
	segment := float64(segmentBytes)
	if p.MTUBytes > headBytes {
		segment = min(segment, float64(p.MTUBytes))
	}
	return (segment - headBytes) / segment
}

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
