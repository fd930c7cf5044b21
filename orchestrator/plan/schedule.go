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
	// whose ends have most left: best when tests differ in length.
	Greedy Order = "greedy"
)

// Schedule hands out tasks so that they don't disturb each other: a state
// machine without a clock. Round trips come first, in rounds. A machine takes
// part from Ready to Drop. It is not safe for concurrent use.
type Schedule struct {
	order   Order
	numbers map[string]int // of machines
	ready   []bool         // by machine
	seats   func(Task) [2]chair
	queues  [][]*job         // pending tasks, by chair, by rank
	heads   map[Kind][]chair // those that are the first of a task
	leads   []bool           // by chair: is in heads
	running map[Task]*job
	busy    []bool // by chair
	pending map[Kind]int
	live    map[Kind]int
	front   int // lowest rank so far
}

// job is a task as the schedule sees it.
type job struct {
	Task
	machines [2]int
	chairs   [2]chair
	rank     int // round trips below throughput, then by rounds
}

// NewSchedule plans the Tasks of pairs. No machine is ready yet.
func NewSchedule(pairs []Pair, isolation Isolation, order Order) *Schedule {
	s := &Schedule{
		order: order, numbers: map[string]int{}, running: map[Task]*job{},
		pending: map[Kind]int{}, live: map[Kind]int{}, heads: map[Kind][]chair{},
	}
	chairs := map[seat]chair{}
	s.seats = func(t Task) (taken [2]chair) {
		for i, at := range isolation.seats(t) {
			taken[i] = number(chairs, at)
		}
		return taken
	}
	var jobs []*job
	for _, t := range Tasks(pairs, isolation) {
		jobs = append(jobs, s.job(t))
	}
	s.ready = make([]bool, len(s.numbers))
	s.busy, s.leads, s.queues = make([]bool, len(chairs)), make([]bool, len(chairs)), make([][]*job, len(chairs))
	s.seed(jobs)
	return s
}

func (s *Schedule) job(t Task) *job {
	return &job{Task: t, machines: [2]int{number(s.numbers, t.From), number(s.numbers, t.To)}, chairs: s.seats(t)}
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

// seed plays the jobs into rounds and queues them.
func (s *Schedule) seed(jobs []*job) {
	slices.SortStableFunc(jobs, func(a, b *job) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(s.circle(a), s.circle(b)))
	})
	tasks := make([][2]chair, len(jobs))
	for i, j := range jobs {
		tasks[i] = j.chairs
	}
	for i, round := range rounds(tasks, len(s.busy)) {
		jobs[i].rank = round
	}
	slices.SortStableFunc(jobs, func(a, b *job) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.rank, b.rank))
	})
	for i, j := range jobs {
		j.rank = i
		s.lead(j)
		for _, at := range j.chairs {
			s.queues[at] = append(s.queues[at], j)
		}
		s.pending[j.Kind]++
	}
}

// lead has choose look for j where it looks for tasks: at their first chairs.
func (s *Schedule) lead(j *job) {
	if at := j.chairs[0]; !s.leads[at] {
		s.leads[at] = true
		s.heads[j.Kind] = append(s.heads[j.Kind], at)
	}
}

// circle is the round of a tournament in which the machines of j meet by the
// circle method, perfect when everyone meets everyone.
func (s *Schedule) circle(j *job) int {
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
	j := s.choose()
	if j == nil {
		return Task{}, false
	}
	s.unqueue(j)
	s.busy[j.chairs[0]], s.busy[j.chairs[1]] = true, true
	s.live[j.Kind]++
	s.running[j.Task] = j
	return j.Task, true
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
	j := s.job(t)
	s.front--
	j.rank = s.front
	s.lead(j)
	for _, at := range j.chairs {
		s.queues[at] = slices.Insert(s.queues[at], 0, j)
	}
	s.pending[t.Kind]++
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
	for _, queue := range s.queues {
		for _, j := range queue {
			if j.Task == both || j.Task == reversed {
				j.Task = t.reverse()
			}
		}
	}
}

// remove takes out pending tasks, and returns them by rank.
func (s *Schedule) remove(which func(Task) bool) (removed []Task) {
	var jobs []*job
	for at, queue := range s.queues {
		for _, j := range queue {
			if j.chairs[0] == at && which(j.Task) {
				jobs = append(jobs, j)
			}
		}
	}
	slices.SortFunc(jobs, func(a, b *job) int { return cmp.Compare(a.rank, b.rank) })
	for _, j := range jobs {
		s.unqueue(j)
		removed = append(removed, j.Task)
	}
	return removed
}

func (s *Schedule) unqueue(j *job) {
	for _, at := range j.chairs {
		i := slices.Index(s.queues[at], j)
		s.queues[at] = slices.Delete(s.queues[at], i, i+1)
	}
	s.pending[j.Kind]--
}

// Remaining counts the tasks that are pending or running.
func (s *Schedule) Remaining() int {
	return s.pending[RTT] + s.pending[Throughput] + len(s.running)
}
