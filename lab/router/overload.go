package router

import (
	"slices"
	"time"
)

const (
	// lateAfter is the lateness of a packet that can spoil a measurement.
	lateAfter = 2 * time.Millisecond
	// mergeWithin joins late packets into one overload.
	mergeWithin = time.Second
	// keptOverloads bounds the list; the oldest go.
	keptOverloads = 1024
)

// Overload is a time in which the router, or the computer it runs on, was too
// busy to deliver packets when they were due. Measurements that overlap it are
// suspect.
type Overload struct {
	From    time.Time     `json:"from"`
	To      time.Time     `json:"to"`
	Packets int64         `json:"packets"` // delivered late
	Worst   time.Duration `json:"worst_ns"`
}

type overloads struct {
	epoch time.Time
	list  []Overload
}

// note records how late a packet due at a time was.
func (o *overloads) note(due, late time.Duration) {
	if late < lateAfter {
		return
	}
	from, to := o.epoch.Add(due), o.epoch.Add(due+late)
	last := len(o.list) - 1
	if last < 0 || from.Sub(o.list[last].To) > mergeWithin {
		if len(o.list) == keptOverloads {
			o.list = slices.Delete(o.list, 0, 1)
		}
		o.list = append(o.list, Overload{From: from, To: to})
		last = len(o.list) - 1
	}
	l := &o.list[last]
	l.To = to
	l.Packets++
	l.Worst = max(l.Worst, late)
}

// Overloads returns when the router was too busy, oldest first.
func (r *Router) Overloads() []Overload {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.overloads.list)
}
