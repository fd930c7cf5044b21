package main

import (
	"container/heap"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
)

// clock is a virtual one that runs what is started on it.
type clock struct {
	now     time.Duration
	running ends
}

// end is when something that runs is over.
type end struct {
	at time.Duration
	do func()
}

type ends []end

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, k int) bool { return e[i].at < e[k].at }
func (e ends) Swap(i, k int)      { e[i], e[k] = e[k], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(end)) }
func (e *ends) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// after does something when a time has passed.
func (c *clock) after(d time.Duration, do func()) { heap.Push(&c.running, end{c.now + d, do}) }

// run goes on until nothing runs any more.
func (c *clock) run() {
	for len(c.running) > 0 {
		e := heap.Pop(&c.running).(end)
		c.now = e.at
		e.do()
	}
}

// load is what a machine takes part in.
type load struct{ rtts, sends, receives int }

// conflicts reports whether a machine's load is more than may be.
func (l load) conflicts(i plan.Isolation) bool {
	tests := l.sends + l.receives
	return l.rtts > 1 || l.rtts > 0 && tests > 0 ||
		i == plan.Duplex && (l.sends > 1 || l.receives > 1) || i == plan.Host && tests > 1
}
