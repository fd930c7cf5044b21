package plan

import (
	"cmp"
	"slices"
)

// Order is how a schedule chooses among the throughput tests that may start.
type Order string

const (
	// Tournament plays in rounds, each machine its own tests in order, waiting
	// for the next opponent if need be: best when tests take about equally long.
	Tournament Order = "tournament"
	// Greedy never lets a machine wait that could work, and starts the test
	// whose busier end has most left: best when tests differ in length.
	Greedy Order = "greedy"
)

// Schedule hands out tasks so that they don't disturb each other: a state
// machine without a clock. Round trips come first, in rounds. A machine takes
// part from Ready to Drop. It is not safe for concurrent use.
type Schedule struct {
	order   Order
	numbers map[string]int // of machines
	ready   []bool         // by machine
	pending []job          // round trips in front, by rounds
	running map[Task]job
	seats   func(Task) [2]chair
	live    map[Kind]int // running tasks
	busy    []bool       // by chair
	left    []int        // by chair: pending tasks
}

// job is a task as the schedule sees it.
type job struct {
	Task
	machines [2]int
	chairs   [2]chair
	round    int
}

// NewSchedule plans the Tasks of pairs. No machine is ready yet.
func NewSchedule(pairs []Pair, isolation Isolation, order Order) *Schedule {
	s := &Schedule{order: order, numbers: map[string]int{}, running: map[Task]job{}, live: map[Kind]int{}}
	chairs := map[seat]chair{}
	s.seats = func(t Task) (taken [2]chair) {
		for i, at := range isolation.seats(t) {
			taken[i] = number(chairs, at)
		}
		return taken
	}
	for _, t := range Tasks(pairs, isolation) {
		s.pending = append(s.pending, s.job(t))
	}
	s.ready = make([]bool, len(s.numbers))
	s.busy, s.left = make([]bool, len(chairs)), make([]int, len(chairs))
	s.seed()
	return s
}

func (s *Schedule) job(t Task) job {
	return job{Task: t, machines: [2]int{number(s.numbers, t.From), number(s.numbers, t.To)}, chairs: s.seats(t)}
}

// number gives every new key the next number.
func number[K comparable](numbers map[K]int, key K) int {
	n, ok := numbers[key]
	if !ok {
		n = len(numbers)
		numbers[key] = n
	}
	return n
}

// seed plays the pending tasks into rounds.
func (s *Schedule) seed() {
	slices.SortStableFunc(s.pending, func(a, b job) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(s.circle(a), s.circle(b)))
	})
	tasks := make([][2]chair, len(s.pending))
	for i, j := range s.pending {
		tasks[i] = j.chairs
		s.count(j, 1)
	}
	for i, round := range rounds(tasks, len(s.left)) {
		s.pending[i].round = round
	}
	slices.SortStableFunc(s.pending, func(a, b job) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.round, b.round))
	})
}

// circle is the round of a tournament in which the machines of j meet by the
// circle method, perfect when everyone meets everyone.
func (s *Schedule) circle(j job) int {
	a, b := j.machines[0], j.machines[1]
	last := len(s.numbers) - 1 + len(s.numbers)%2 // an odd field gets a phantom to wait with
	switch last {
	case a:
		return 2 * b % last
	case b:
		return 2 * a % last
	}
	return (a + b) % last
}

// Ready lets a machine take part.
func (s *Schedule) Ready(machine string) { s.setReady(machine, true) }

func (s *Schedule) setReady(machine string, ready bool) {
	if n, ok := s.numbers[machine]; ok {
		s.ready[n] = ready
	}
}

// Next starts a task; false when none may start now. Call it until then after
// every Ready, Done, Drop and Forget: if nothing runs, it starts a task as long
// as two machines that are ready have one left.
func (s *Schedule) Next() (Task, bool) {
	may := s.startable()
	if len(may) == 0 {
		return Task{}, false
	}
	return s.start(slices.MaxFunc(may, s.compare)), true
}

// startable are the pending tasks, by index, that disturb nothing that runs
// and, where rounds count, are the next of both their machines.
func (s *Schedule) startable() []int {
	var may []int
	quiet := s.live[RTT] > 0              // no throughput may start
	promised := make([]bool, len(s.busy)) // chairs whose next task stands further in front
	for i, j := range s.pending {
		if quiet && j.Kind == Throughput {
			break
		}
		if !s.ready[j.machines[0]] || !s.ready[j.machines[1]] {
			continue
		}
		quiet = quiet || j.Kind == RTT
		next := !promised[j.chairs[0]] && !promised[j.chairs[1]]
		promised[j.chairs[0]], promised[j.chairs[1]] = true, true
		if s.free(j) && (next || !s.inRounds(j)) {
			may = append(may, i)
		}
	}
	return may
}

func (s *Schedule) start(i int) Task {
	j := s.pending[i]
	s.pending = slices.Delete(s.pending, i, i+1)
	s.count(j, -1)
	s.busy[j.chairs[0]], s.busy[j.chairs[1]] = true, true
	s.live[j.Kind]++
	s.running[j.Task] = j
	return j.Task
}

// Done ends a task that Next started. Others are ignored.
func (s *Schedule) Done(t Task) {
	j, ok := s.running[t]
	if !ok {
		return
	}
	delete(s.running, t)
	s.busy[j.chairs[0]], s.busy[j.chairs[1]] = false, false
	s.live[t.Kind]--
}

// Pause lets a machine start nothing until it is Ready again. Its running tasks
// still end with Done.
func (s *Schedule) Pause(machine string) { s.setReady(machine, false) }

// Again plans a task of the pairs anew that was Done, in front of all others of
// its kind.
func (s *Schedule) Again(t Task) {
	at := slices.IndexFunc(s.pending, func(j job) bool { return j.Kind >= t.Kind })
	if at < 0 {
		at = len(s.pending)
	}
	j := s.job(t)
	s.pending = slices.Insert(s.pending, at, j)
	s.count(j, 1)
}

// Drop takes a dead machine out and returns its tasks that never started. Its
// running tasks still end with Done.
func (s *Schedule) Drop(machine string) []Task {
	s.setReady(machine, false)
	return s.remove(func(t Task) bool { return t.From == machine || t.To == machine })
}

// Forget takes out the throughput test of one direction, if it hasn't started.
// What was to be measured together with it is measured alone.
func (s *Schedule) Forget(from, to string) {
	t := Task{Kind: Throughput, From: from, To: to}
	s.remove(func(pending Task) bool { return pending == t })
	both, reversed := t, t.reverse()
	both.Both, reversed.Both = true, true
	for i := range s.pending {
		if pending := &s.pending[i].Task; *pending == both || *pending == reversed {
			*pending = t.reverse()
		}
	}
}

func (s *Schedule) remove(which func(Task) bool) []Task {
	var removed []Task
	s.pending = slices.DeleteFunc(s.pending, func(j job) bool {
		if !which(j.Task) {
			return false
		}
		removed = append(removed, j.Task)
		s.count(j, -1)
		return true
	})
	return removed
}

// Remaining counts the tasks that are pending or running.
func (s *Schedule) Remaining() int { return len(s.pending) + len(s.running) }

func (s *Schedule) count(j job, n int) {
	s.left[j.chairs[0]] += n
	s.left[j.chairs[1]] += n
}

func (s *Schedule) inRounds(j job) bool { return j.Kind == RTT || s.order == Tournament }

// free reports whether j disturbs nothing that runs.
func (s *Schedule) free(j job) bool {
	if j.Kind == RTT && s.live[Throughput] > 0 {
		return false
	}
	return !s.busy[j.chairs[0]] && !s.busy[j.chairs[1]]
}

// compare is positive when pending task i is more urgent than k. In rounds
// none is: the first counts.
func (s *Schedule) compare(i, k int) int {
	a, b := s.pending[i], s.pending[k]
	if s.inRounds(a) {
		return 0
	}
	return cmp.Or(cmp.Compare(s.most(a), s.most(b)), cmp.Compare(b.round, a.round))
}

// most is what the busier end of j has left.
func (s *Schedule) most(j job) int { return max(s.left[j.chairs[0]], s.left[j.chairs[1]]) }
