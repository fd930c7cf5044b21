package plan

import (
	"cmp"
	"slices"
)

// choose finds the pending task to start now, or nil. It looks at the chairs
// that are free, which are few but at the beginning, and at their queues.
func (s *Schedule) choose() (best *job) {
	kind := s.turn()
	if kind == RTT && s.live[Throughput] > 0 {
		return nil
	}
	rounds := kind == RTT || s.order == Tournament
	for _, at := range s.heads[kind] {
		if s.busy[at] {
			continue
		}
		queue := s.queues[at]
		if rounds {
			queue = s.first(at)
		}
		for _, j := range queue {
			if j.chairs[0] != at || !s.free(j) || rounds && !slices.Contains(s.first(j.chairs[1]), j) {
				continue
			}
			if best == nil || s.compare(j, best, rounds) > 0 {
				best = j
			}
		}
	}
	return best
}

// turn is the kind of task whose turn it is: no throughput starts while a round
// trip is measured or could be as soon as its machines are quiet.
func (s *Schedule) turn() Kind {
	if s.live[RTT] > 0 {
		return RTT
	}
	if s.pending[RTT] > 0 {
		for _, at := range s.heads[RTT] {
			if len(s.first(at)) > 0 {
				return RTT
			}
		}
	}
	return Throughput
}

// first is the next task of a chair whose machines are ready, if there is one.
func (s *Schedule) first(at chair) []*job {
	i := slices.IndexFunc(s.queues[at], s.bothReady)
	if i < 0 {
		return nil
	}
	return s.queues[at][i : i+1]
}

func (s *Schedule) bothReady(j *job) bool { return s.ready[j.machines[0]] && s.ready[j.machines[1]] }

func (s *Schedule) free(j *job) bool {
	return !s.busy[j.chairs[0]] && !s.busy[j.chairs[1]] && s.bothReady(j)
}

// compare is positive when a is the more urgent: in rounds by its rank, else
// the one whose busier end, and then whose other end, has most left.
func (s *Schedule) compare(a, b *job, rounds bool) int {
	if rounds {
		return cmp.Compare(b.rank, a.rank)
	}
	mostA, leastA := s.left(a)
	mostB, leastB := s.left(b)
	return cmp.Or(cmp.Compare(mostA, mostB), cmp.Compare(leastA, leastB), cmp.Compare(b.rank, a.rank))
}

// left is how many tasks the two ends of j have left.
func (s *Schedule) left(j *job) (most, least int) {
	a, b := len(s.queues[j.chairs[0]]), len(s.queues[j.chairs[1]])
	return max(a, b), min(a, b)
}
