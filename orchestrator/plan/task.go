package plan

// Kind is what a task measures.
type Kind string

const (
	RTT        Kind = "rtt"        // round-trip time
	Throughput Kind = "throughput" // goodput of one direction
)

// Task is one test to run, between two regions by their ids.
type Task struct {
	Kind     Kind
	From, To string
	Both     bool // To measures towards From too, at the same time
}

// Tasks are the tests that pairs need, round trips first: one RTT task for each
// two regions, and one throughput task for each direction, or Together for each
// two regions too.
func Tasks(pairs []Pair, isolation Isolation) []Task {
	tasks := mutual(RTT, pairs)
	if isolation == Together {
		return append(tasks, mutual(Throughput, pairs)...)
	}
	for _, p := range pairs {
		tasks = append(tasks, Task{Kind: Throughput, From: p.From.ID(), To: p.To.ID()})
	}
	return tasks
}

// mutual is one task for each two regions, in both directions where both are
// among the pairs.
func mutual(kind Kind, pairs []Pair) []Task {
	var tasks []Task
	index := map[Task]int{}
	for _, p := range pairs {
		t := Task{Kind: kind, From: p.From.ID(), To: p.To.ID()}
		if i, ok := index[t.reverse()]; ok {
			tasks[i].Both = true
			continue
		}
		index[t] = len(tasks)
		tasks = append(tasks, t)
	}
	return tasks
}

// reverse is the other direction of t.
func (t Task) reverse() Task {
	t.From, t.To = t.To, t.From
	return t
}

// Isolation says which throughput tests a machine may take part in at a time.
// Of round trips it is always one, and while any is measured the whole fleet
// has no throughput test.
type Isolation string

const (
	Duplex   Isolation = "duplex"   // one that it sends in and one that it receives in
	Host     Isolation = "host"     // one
	Together Isolation = "together" // one with each pair's both directions at a time
	None     Isolation = "none"     // all of its own at once
)

// seat is what only one running task at a time may hold of a machine.
type seat struct {
	machine string
	part    string
}

// seats are the two seats that t holds while it runs.
func (i Isolation) seats(t Task) [2]seat {
	switch {
	case t.Kind == RTT:
		return [2]seat{{t.From, "rtt"}, {t.To, "rtt"}}
	case i == Host, i == Together:
		return [2]seat{{t.From, "test"}, {t.To, "test"}}
	case i == None: // seats of their own
		return [2]seat{{t.From, "to " + t.To}, {t.To, "from " + t.From}}
	}
	return [2]seat{{t.From, "send"}, {t.To, "receive"}}
}
