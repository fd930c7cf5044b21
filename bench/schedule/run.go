package main

import (
	"fmt"
	"math"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
)

// run is one schedule from beginning to end.
type run struct {
	clock
	schedule  *plan.Schedule
	isolation plan.Isolation
	took      map[plan.Task]time.Duration
	loads     map[string]*load // by machine
	conflicts int
}

// play returns the makespan of the schedule and how often a machine took part in
// more than it may. A task that was never run counts as a conflict too.
func play(pairs []plan.Pair, isolation plan.Isolation, order plan.Order, took map[plan.Task]time.Duration) (makespan time.Duration, conflicts int) {
	r := &run{schedule: plan.NewSchedule(pairs, isolation, order), isolation: isolation, took: took, loads: map[string]*load{}}
	for _, region := range plan.RegionsOf(pairs) {
		r.loads[region.ID()] = &load{}
		r.schedule.Ready(region.ID())
	}
	r.start()
	r.clock.run()
	return r.now, r.conflicts + r.schedule.Remaining()
}

func (r *run) start() {
	for {
		t, ok := r.schedule.Next()
		if !ok {
			return
		}
		r.change(t, 1)
		r.after(r.took[t], func() {
			r.change(t, -1)
			r.schedule.Done(t)
			r.start()
		})
	}
}

// change counts a task in or out at both of its machines.
func (r *run) change(t plan.Task, by int) {
	from, to := r.loads[t.From], r.loads[t.To]
	if t.Kind == plan.RTT {
		from.rtts += by
		to.rtts += by
	} else {
		from.sends += by
		to.receives += by
	}
	if by > 0 && (from.conflicts(r.isolation) || to.conflicts(r.isolation)) {
		r.conflicts++
	}
}

// queue is what sweeps did before: 2 * floor(sqrt(n)) workers take the first test
// in the queue whose machines have none, and sleep five seconds when there is
// none. A test measures its round trip too.
type queue struct {
	clock
	waiting []plan.Task
	gone    []bool // by waiting
	first   int    // that is not gone
	took    func(plan.Task) time.Duration
	busy    map[string]bool
}

const sleep = 5 * time.Second

func playQueue(tasks []plan.Task, machines int, took func(plan.Task) time.Duration) time.Duration {
	q := &queue{waiting: tasks, gone: make([]bool, len(tasks)), took: took, busy: map[string]bool{}}
	last := time.Duration(0)
	for range 2 * int(math.Sqrt(float64(machines))) {
		q.after(0, func() { q.work(&last) })
	}
	q.clock.run()
	return last
}

// work is a worker's step; last is when the last test ended.
func (q *queue) work(last *time.Duration) {
	for q.first < len(q.gone) && q.gone[q.first] {
		q.first++
	}
	if q.first == len(q.gone) {
		return
	}
	for i := q.first; i < len(q.waiting); i++ {
		t := q.waiting[i]
		if q.gone[i] || q.busy[t.From] || q.busy[t.To] {
			continue
		}
		q.gone[i] = true
		q.busy[t.From], q.busy[t.To] = true, true
		q.after(q.took(t), func() {
			q.busy[t.From], q.busy[t.To] = false, false
			*last = q.now
			q.work(last)
		})
		return
	}
	q.after(sleep, func() { q.work(last) })
}

// everyPair are the directed pairs between n regions.
func everyPair(n int) (pairs []plan.Pair) {
	region := func(i int) antipode.Region { return antipode.Region{Cloud: "aws", Name: fmt.Sprint("r", i)} }
	for from := range n {
		for to := range n {
			if from != to {
				pairs = append(pairs, plan.Pair{From: region(from), To: region(to)})
			}
		}
	}
	return pairs
}
