//go:build linux

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"time"

	"github.com/gocarina/gocsv"

	"github.com/antipode-bench/antipode/lab/world"
)

// Sets of paths.
const (
	setTuning = "tuning"
	setUnseen = "unseen"
	setBucket = "bucket"
)

// Path is one way to measure on. Zero is no such limit.
type Path struct {
	Name         string  `csv:"name" json:"name"`
	Set          string  `csv:"set" json:"set"`
	Congestion   string  `csv:"congestion_control" json:"congestion_control"`
	RTTMs        float64 `csv:"rtt_ms" json:"rtt_ms"`
	MachineBps   float64 `csv:"machine_bps" json:"machine_bps"` // rates are of IP packets
	FlowBps      float64 `csv:"flow_bps" json:"flow_bps"`
	PoliceBps    float64 `csv:"police_bps" json:"police_bps"`
	LossRatio    float64 `csv:"loss_ratio" json:"loss_ratio"`
	QueueMs      float64 `csv:"queue_ms" json:"queue_ms"`
	ReceiveBytes int     `csv:"receive_bytes" json:"receive_bytes"` // net.ipv4.tcp_rmem's maximum
	SendBytes    int     `csv:"send_bytes" json:"send_bytes"`       // net.ipv4.tcp_wmem's maximum
	BaselineBps  float64 `csv:"baseline_bps" json:"baseline_bps"`
	BurstBytes   float64 `csv:"burst_bytes" json:"burst_bytes"`
	RateBps      float64 `csv:"rate_bps" json:"rate_bps"` // of payload: the application offers no more
}

//go:embed paths.csv
var pathsFile []byte

func readPaths(data []byte) (paths []Path, err error) {
	if err := gocsv.UnmarshalBytes(data, &paths); err != nil {
		return nil, fmt.Errorf("read paths: %w", err)
	}
	return paths, nil
}

// capBps is the least of the path's rates, at the beginning.
func (p Path) capBps() float64 {
	least := p.MachineBps
	for _, bps := range []float64{p.FlowBps, p.PoliceBps} {
		if bps > 0 {
			least = min(least, bps)
		}
	}
	return least
}

func (p Path) rtt() time.Duration { return time.Duration(p.RTTMs * float64(time.Millisecond)) }

// from and to are the regions of the path's machines.
func (p Path) from() string { return "lab:" + p.Name + "-from" }
func (p Path) to() string   { return "lab:" + p.Name + "-to" }

// disturbed is the path with what UDP's counts are held against.
func (p Path) disturbed() world.Quirks {
	return world.Quirks{ReorderRatio: 0.01, ReorderMs: 1, DuplicateRatio: 0.005}
}

// undisturbed is the path as it is.
func (p Path) undisturbed() world.Quirks { return world.Quirks{} }

// worldOf is the lab's internet with the paths in it, none of which has a machine
// with another in common.
func worldOf(paths []Path, quirks func(Path) world.Quirks) *world.World {
	w := &world.World{Controller: world.Controller{DelayMs: 0.5}}
	for _, p := range paths {
		w.Regions = append(w.Regions, p.region(p.from()), p.region(p.to()))
		w.Pairs = append(w.Pairs, p.pairs(quirks(p))...)
	}
	return w
}

func (p Path) region(id string) world.Region {
	return world.Region{ID: id, EgressBps: p.MachineBps, IngressBps: p.MachineBps, Allowance: world.Allowance{
		BaselineBps: p.BaselineBps, BurstBytes: p.BurstBytes, QueueMs: p.QueueMs,
	}}
}

// pairs are the way there, which has all of the path's limits, and back.
func (p Path) pairs(there world.Quirks) []world.Pair {
	delay, jitter, none := p.RTTMs/2, 0.0, 0.0
	there.QueueMs, there.PoliceBps = p.QueueMs, p.PoliceBps
	return []world.Pair{
		{From: p.from(), To: p.to(), DelayMs: &delay, JitterMs: &jitter, LossRatio: &p.LossRatio, FlowBps: &p.FlowBps, Quirks: there},
		{From: p.to(), To: p.from(), DelayMs: &delay, JitterMs: &jitter, LossRatio: &none, FlowBps: &none},
	}
}

// Largest buffers a machine may use: its kernel's defaults, and so large that
// nothing is ever held back by them.
const (
	stockReceiveBytes = 6 << 20
	stockSendBytes    = 4 << 20
	hugeBytes         = 256 << 20
)

// bootCommands set a machine's buffers.
func (p Path) bootCommands() []string {
	set := func(name string, most int) string {
		start := min(most, 131_072)
		return fmt.Sprintf("echo '4096 %d %d' > /proc/sys/net/ipv4/tcp_%smem", start, most, name)
	}
	return []string{set("r", orStock(p.ReceiveBytes, stockReceiveBytes)), set("w", orStock(p.SendBytes, stockSendBytes))}
}

func orStock(n, stock int) int {
	if n > 0 {
		return n
	}
	return stock
}

func marshalPaths(paths []Path) ([]byte, error) {
	var b bytes.Buffer
	err := gocsv.Marshal(paths, &b)
	return b.Bytes(), err
}

// round keeps n significant digits.
func round(v float64, n int) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-float64(n-1))
	if unit < 1 {
		inverse := math.Round(1 / unit)
		return math.Round(v*inverse) / inverse
	}
	return math.Round(v/unit) * unit
}
