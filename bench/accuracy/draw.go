//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Numbers of paths that -draw draws, and the seeds they are drawn by. Whoever
// tunes the probe's rules looks at the first set only; who has looked at single
// paths of the second takes other seeds for it.
const (
	tuningPaths = 80
	unseenPaths = 44
	slowPaths   = 5 // of each of the two, besides
	bucketPaths = 12

	tuningSeed     = 1
	unseenSeed     = 20261203
	slowTuningSeed = 2
	slowUnseenSeed = 20261204
	bucketSeed     = 7
)

// drawAll draws every path there is. more is added to the seeds: 0 draws those
// of paths.csv.
func drawAll(more uint64) []Path {
	var paths []Path
	drawn := map[string]int{}
	for _, set := range []struct {
		name string
		n    int
		seed uint64
		draw func(*dice) Path
	}{
		{setTuning, tuningPaths, tuningSeed, (*dice).path},
		{setUnseen, unseenPaths, unseenSeed, (*dice).path},
		{setTuning, slowPaths, slowTuningSeed, (*dice).slow},
		{setUnseen, slowPaths, slowUnseenSeed, (*dice).slow},
		{setBucket, bucketPaths, bucketSeed, (*dice).bucket},
	} {
		d := &dice{rand.New(rand.NewPCG(set.seed+more, 0))}
		for i := range set.n {
			p := set.draw(d)
			drawn[set.name]++
			p.Name, p.Set = fmt.Sprintf("%s-%03d", set.name, drawn[set.name]), set.name
			p.Congestion = []string{"cubic", "bbr"}[i%2]
			paths = append(paths, p)
		}
	}
	return paths
}

type dice struct{ *rand.Rand }

// between is even on a logarithmic scale, with three digits.
func (d *dice) between(low, high float64) float64 {
	return round(low*math.Pow(high/low, d.Float64()), 3)
}

func (d *dice) chance(p float64) bool { return d.Float64() < p }

// wide is how much faster than its bottleneck the rest of a path is.
const wide = 3

// constraint makes a path be limited by something.
type constraint struct {
	share float64
	put   func(d *dice, p *Path, bps float64)
}

var constraints = []constraint{
	{0.22, func(_ *dice, p *Path, bps float64) { p.MachineBps = bps }},
	{0.22, func(_ *dice, p *Path, bps float64) { p.MachineBps, p.FlowBps = min(1e9, wide*bps), bps }},
	{0.24, func(d *dice, p *Path, bps float64) { p.MachineBps, p.LossRatio = bps, d.between(0.00005, 0.01) }},
	{0.08, func(_ *dice, p *Path, bps float64) { p.MachineBps, p.PoliceBps = min(1e9, wide*bps), bps }},
	{0.12, func(d *dice, p *Path, bps float64) { p.MachineBps, p.ReceiveBytes = bps, d.buffer(p, bps) }},
	{0.12, func(d *dice, p *Path, bps float64) { p.MachineBps, p.SendBytes = bps, d.buffer(p, bps) }},
}

// buffer is too small for the rate: the window that comes of it is about half
// of it.
func (d *dice) buffer(p *Path, bps float64) int {
	needed := bps / 8 * p.RTTMs / 1000
	return int(round(max(48<<10, needed*d.between(0.25, 1)), 3))
}

func (d *dice) path() Path {
	p := Path{RTTMs: d.between(1, 300)}
	at := d.Float64()
	bps := d.between(10e6, 1e9)
	for i, c := range constraints {
		if at -= c.share; at < 0 || i == len(constraints)-1 {
			c.put(d, &p, bps)
			break
		}
	}
	if d.chance(0.3) {
		p.QueueMs = d.between(10, 200)
	}
	return p
}

// slow is a path that carries more than the application offers.
func (d *dice) slow() Path {
	p := Path{RTTMs: d.between(1, 300), RateBps: d.between(10e6, 500e6)}
	p.MachineBps = min(1e9, round(p.RateBps*d.between(1.5, 5), 3))
	return p
}

// bucket is a machine whose burst ends within a long test, or after it.
func (d *dice) bucket() Path {
	p := Path{RTTMs: d.between(1, 150), MachineBps: d.between(50e6, 500e6)}
	p.BaselineBps = round(p.MachineBps/d.between(3, 10), 3)
	seconds := d.between(3, 40)
	p.BurstBytes = round((p.MachineBps-p.BaselineBps)/8*seconds, 3)
	return p
}
