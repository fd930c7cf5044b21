package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/formats"
	labworld "github.com/antipode-bench/antipode/lab/world"
)

// replayed says how much of a world is as it was measured.
type replayed struct {
	file                string
	regions             int
	both, once, derived int      // pairs of two regions: measured both ways, one way, not at all
	unknown             []string // regions of the file that the lab does not have
}

func (r replayed) String() string {
	text := fmt.Sprintf("world of %s: of the pairs of its %s %d are as measured both ways, %d as measured one way (the other way's rate follows from distance), %d follow from distance",
		r.file, plural(r.regions, "region"), r.both, r.once, r.derived)
	if len(r.unknown) > 0 {
		text += fmt.Sprintf("; %s of the file %s not in this lab", plural(len(r.unknown), "region"), isOrAre(len(r.unknown)))
	}
	return text
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// loadWorld reads a world: YAML of our own, or rows that were measured.
func loadWorld(path string, regions []antipode.Region, say io.Writer) (*labworld.World, error) {
	data, err := os.ReadFile(path)
	if info, serr := os.Stat(path); err != nil && (serr != nil || !info.IsDir()) {
		return nil, fmt.Errorf("load world: %w", err)
	}
	if err == nil && looksLikeWorld(data) {
		return labworld.Parse(path, data)
	}
	c := analysis.NewCollector(analysis.Places{Name: "built-in", Regions: regions})
	if err := formats.Read(path, c); err != nil {
		return nil, fmt.Errorf("%w; or the lab's own world.yaml", err)
	}
	w, told := replay(path, c.Data(), regions)
	if told.both+told.once == 0 {
		return nil, fmt.Errorf("load world: %s: no row is a measurement between two regions that the lab has a place for", path)
	}
	fmt.Fprintln(say, told)
	return w, nil
}

// looksLikeWorld is true of text whose first line that says something is a key of
// YAML; a table's is a list of columns.
func looksLikeWorld(data []byte) bool {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		key, _, found := bytes.Cut(line, []byte(":"))
		return found && !bytes.ContainsAny(key, ", \t\"{")
	}
	return false
}

// replay makes the lab's internet out of what was measured: the round trip of two
// regions is the median of all rows between them, in either direction and half of
// it each way; the rate from one to the other is what one flow gets. Machines are
// as fast as it takes. What was not measured follows from distance.
func replay(file string, d *analysis.Data, regions []antipode.Region) (*labworld.World, replayed) {
	w := labworld.Default(regions)
	told := replayed{file: file}
	ways := measuredWays(d, w, &told)
	measured := map[string]bool{}
	for _, p := range d.Pairs {
		from, to := d.Regions[p.From].ID(), d.Regions[p.To].ID()
		way, back := ways[[2]string{from, to}], ways[[2]string{to, from}]
		if p.Within() || way == nil {
			continue
		}
		measured[from], measured[to] = true, true
		pair := labworld.Pair{From: from, To: to, DelayMs: halfTrip(way, back)}
		if way.bps > 0 {
			pair.FlowBps = new(labworld.FlowFor(way.bps))
		}
		w.Pairs = append(w.Pairs, pair)
		if back == nil {
			told.once++
			w.Pairs = append(w.Pairs, labworld.Pair{From: to, To: from, DelayMs: pair.DelayMs})
		} else if from < to {
			told.both++
		}
	}
	for i := range w.Regions {
		if measured[w.Regions[i].ID] {
			w.Regions[i].EgressBps, w.Regions[i].IngressBps = 0, 0
		}
	}
	n := len(measured)
	told.regions, told.derived = n, n*(n-1)/2-told.both-told.once
	return w, told
}

// way is what was measured from one region to another.
type way struct{ rttMs, bps float64 } // NaN if not measured

// halfTrip is nil if no way has a round trip.
func halfTrip(ways ...*way) *float64 {
	var sum, n float64
	for _, w := range ways {
		if w != nil && w.rttMs > 0 {
			sum, n = sum+w.rttMs, n+1
		}
	}
	if n == 0 {
		return nil
	}
	return new(sum / n / 2)
}

// measuredWays are those with a figure between regions of the world.
func measuredWays(d *analysis.Data, w *labworld.World, told *replayed) map[[2]string]*way {
	ways, known := map[[2]string]*way{}, map[string]bool{}
	for _, r := range w.Regions {
		known[r.ID] = true
	}
	for i, p := range d.Pairs {
		from, to := d.Regions[p.From].ID(), d.Regions[p.To].ID()
		for _, id := range []string{from, to} {
			if !known[id] && !slices.Contains(told.unknown, id) {
				told.unknown = append(told.unknown, id)
			}
		}
		if m := d.Medians()[i]; known[from] && known[to] && !p.Within() && (m.RTTMs > 0 || m.GoodputBps > 0) {
			ways[[2]string{from, to}] = &way{m.RTTMs, m.GoodputBps}
		}
	}
	return ways
}
