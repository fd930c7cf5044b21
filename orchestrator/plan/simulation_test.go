package plan

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// simulation runs a schedule on a clock of its own and checks every step.
type simulation struct {
	t         testing.TB
	s         *Schedule
	isolation Isolation
	rng       *rand.Rand
	uneven    float64
	late      map[string]time.Duration // when a machine gets ready, if not at 0
	dies      map[string]time.Duration
	lapses    map[string]time.Duration // when a machine goes away, for a while

	now     time.Duration
	tasks   int
	running []event
	events  []event // Ready and Drop to come
	ready   map[string]bool
	done    []Timed
	dropped int
}

type event struct {
	at   time.Duration
	took time.Duration
	task Task
	do   func()
}

func newSimulation(t testing.TB, pairs []Pair, isolation Isolation, order Order, seed uint64) *simulation {
	sim := &simulation{
		t: t, s: NewSchedule(pairs, isolation, order), isolation: isolation, tasks: len(Tasks(pairs, isolation)),
		rng:  rand.New(rand.NewPCG(seed, 1)),
		late: map[string]time.Duration{}, dies: map[string]time.Duration{}, lapses: map[string]time.Duration{}, ready: map[string]bool{},
	}
	for _, p := range pairs {
		sim.ready[p.From.ID()], sim.ready[p.To.ID()] = false, false
	}
	return sim
}

func (sim *simulation) run() {
	sim.t.Helper()
	for id := range sim.ready {
		death, mortal := sim.dies[id]
		if !mortal || death > sim.late[id] {
			sim.events = append(sim.events, event{at: sim.late[id], do: func() { sim.s.Ready(id); sim.ready[id] = true }})
		}
		if mortal {
			sim.events = append(sim.events, event{at: death, do: func() { sim.dropped += len(sim.s.Drop(id)); delete(sim.ready, id) }})
		}
	}
	for id, at := range sim.lapses {
		sim.events = append(sim.events,
			event{at: at, do: func() { sim.pause(id) }},
			event{at: at + 20*time.Second, do: func() { sim.back(id) }})
	}
	byTime := func(a, b event) int { return int(a.at - b.at) }
	slices.SortStableFunc(sim.events, byTime)
	for {
		for len(sim.events) > 0 && sim.events[0].at <= sim.now {
			sim.events[0].do()
			sim.events = sim.events[1:]
		}
		sim.start()
		slices.SortStableFunc(sim.running, byTime)
		switch {
		case len(sim.running) > 0 && (len(sim.events) == 0 || sim.running[0].at <= sim.events[0].at):
			e := sim.running[0]
			sim.running = sim.running[1:]
			sim.now = e.at
			sim.done = append(sim.done, Timed{e.task, e.took})
			sim.s.Done(e.task)
		case len(sim.events) > 0:
			sim.now = sim.events[0].at
		default:
			sim.finish()
			return
		}
	}
}

// pause takes a machine away that is ready, and cuts its tests short.
func (sim *simulation) pause(id string) {
	if !sim.ready[id] {
		return
	}
	sim.ready[id] = false
	sim.s.Pause(id)
	var on []event
	for _, e := range sim.running {
		if e.task.From != id && e.task.To != id {
			on = append(on, e)
			continue
		}
		sim.s.Done(e.task)
		_, from := sim.ready[e.task.From]
		_, to := sim.ready[e.task.To]
		if !from || !to { // one has died, and the pair with it
			sim.dropped++
			continue
		}
		sim.s.Again(e.task)
	}
	sim.running = on
}

// back returns a machine that did not die meanwhile.
func (sim *simulation) back(id string) {
	if _, lives := sim.ready[id]; lives && sim.now >= sim.late[id] {
		sim.ready[id] = true
		sim.s.Ready(id)
	}
}

func (sim *simulation) start() {
	sim.t.Helper()
	for {
		task, ok := sim.s.Next()
		if !ok {
			return
		}
		sim.check(task)
		took := 1300 * time.Millisecond
		if task.Kind == Throughput {
			took = 5 * time.Second
		}
		took = time.Duration(float64(took) * (1 + sim.uneven*sim.rng.Float64()))
		sim.running = append(sim.running, event{at: sim.now + took, took: took, task: task})
	}
}

// check fails if task conflicts with what runs.
func (sim *simulation) check(task Task) {
	sim.t.Helper()
	if !sim.ready[task.From] || !sim.ready[task.To] {
		sim.t.Fatalf("%v started, but its machines are not ready", task)
	}
	for _, e := range sim.running {
		sameMachine := e.task.From == task.From || e.task.From == task.To || e.task.To == task.From || e.task.To == task.To
		sameWay := e.task.From == task.From || e.task.To == task.To
		if sim.isolation == None && e.task.Kind == Throughput && task.Kind == Throughput {
			continue
		}
		if e.task.Kind != task.Kind || sameWay || sameMachine && (task.Kind == RTT || sim.isolation != Duplex) {
			sim.t.Fatalf("%v started while %v runs", task, e.task)
		}
	}
}

// finish fails if a task was neither run nor dropped, each once.
func (sim *simulation) finish() {
	sim.t.Helper()
	seen := map[Task]bool{}
	for _, d := range sim.done {
		if seen[d.Task] {
			sim.t.Fatalf("%v ran twice", d.Task)
		}
		seen[d.Task] = true
	}
	if sim.s.Remaining() != 0 || len(sim.done)+sim.dropped != sim.tasks {
		sim.t.Fatalf("%d remain; %d done + %d dropped of %d", sim.s.Remaining(), len(sim.done), sim.dropped, sim.tasks)
	}
}
