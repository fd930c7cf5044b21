package plan

import "time"

// Timed is a task with how long it took, or is expected to take.
type Timed struct {
	Task
	Took time.Duration
}

// Bound is the least time in which any schedule could have run the tasks: the
// busiest machine's round trips and, after them, its busier kind of throughput
// test. If every task has two machines to itself, no more
// run at a time than half of the machines: it is no less than all the work shared by them.
func Bound(tasks []Timed, isolation Isolation) time.Duration {
	type load struct{ rtt, test time.Duration }
	loads := map[string]load{} // by machine
	seats := map[seat]time.Duration{}
	var work, bound time.Duration
	for _, t := range tasks {
		work += t.Took
		for _, at := range isolation.seats(t.Task) {
			seats[at] += t.Took
			l := loads[at.machine]
			if t.Kind == RTT {
				l.rtt = seats[at]
			} else {
				l.test = max(l.test, seats[at])
			}
			loads[at.machine] = l
		}
	}
	for _, l := range loads {
		bound = max(bound, l.rtt+l.test)
	}
	if couples := len(loads) / 2; (isolation == Host || isolation == Together) && couples > 0 {
		bound = max(bound, work/time.Duration(couples))
	}
	return bound
}

// Estimate is the Bound of all tests of pairs if an RTT task takes rtt and a
// throughput test takes throughput.
func Estimate(pairs []Pair, isolation Isolation, rtt, throughput time.Duration) time.Duration {
	var tasks []Timed
	for _, t := range Tasks(pairs, isolation) {
		took := throughput
		if t.Kind == RTT {
			took = rtt
		}
		tasks = append(tasks, Timed{t, took})
	}
	return Bound(tasks, isolation)
}
