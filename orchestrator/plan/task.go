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
	Both     bool // RTT: To measures towards From too
}

// Tasks are the tests that pairs need, round trips first: one RTT task for each
// two regions and one throughput task for each direction.
func Tasks(pairs []Pair) []Task {
	var rtts, throughputs []Task
	index := map[Task]int{}
	for _, p := range pairs {
		from, to := p.From.ID(), p.To.ID()
		throughputs = append(throughputs, Task{Kind: Throughput, From: from, To: to})
		if i, ok := index[Task{Kind: RTT, From: to, To: from}]; ok {
			rtts[i].Both = true
			continue
		}
		rtt := Task{Kind: RTT, From: from, To: to}
		index[rtt] = len(rtts)
		rtts = append(rtts, rtt)
	}
	return append(rtts, throughputs...)
}

// Isolation says which throughput tests a machine may take part in at a time.
// Of round trips it is always one, and while any is measured the whole fleet
// has no throughput test.
type Isolation string

const (
	Duplex    Isolation = "duplex"    // one that it sends in and one that it receives in
	Exclusive Isolation = "exclusive" // one
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
	case i == Exclusive:
		return [2]seat{{t.From, "test"}, {t.To, "test"}}
	}
	return [2]seat{{t.From, "send"}, {t.To, "receive"}}
}
