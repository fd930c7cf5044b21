package router

import "time"

const (
	// queueTime bounds a queue: long enough that one loss-based flow keeps the
	// link busy, short enough for the stock TCP buffers.
	queueTime = 100 * time.Millisecond
	// queueBytes is the least a queue holds: a whole super-packet.
	queueBytes = 64 << 10
	// burstTime is the depth of the token bucket, full at the beginning. It is
	// small, for a short test must not see more than the rate.
	burstTime = time.Millisecond
	// burstBytes is the least depth of it: two full packets, for a single one
	// must not wait on an idle link.
	burstBytes = 3000
)

// shaper holds traffic to a rate: a token bucket with a bounded queue before
// it. It keeps no packets, only the time at which the link will be free, so
// late timers don't cost any rate.
type shaper struct {
	bps       float64 // 0 is no limit
	burst     time.Duration
	queue     time.Duration
	free      time.Duration
	allowance allowance // a machine's
}

// newShaper has a queue of at least the given time.
func newShaper(bps float64, queue time.Duration) shaper {
	if bps <= 0 {
		return shaper{}
	}
	s := shaper{bps: bps}
	s.burst = max(burstTime, s.cost(burstBytes))
	s.queue = max(queue, queueTime, s.cost(queueBytes))
	s.free = -s.burst
	return s
}

// setQueue makes the queue shorter or longer than usual, two full packets at
// least; 0 leaves it.
func (s *shaper) setQueue(d time.Duration) {
	if d > 0 {
		s.queue = max(d, s.cost(burstBytes))
	}
}

// cost is the time the link needs for n bytes.
func (s *shaper) cost(n int) time.Duration {
	if s.bps == 0 {
		return 0
	}
	return time.Duration(float64(n) * 8 / s.bps * float64(time.Second))
}

// room is how many bytes the queue takes at a time; limited is false if any.
func (s *shaper) room(at time.Duration) (n int, limited bool) {
	if s.bps == 0 {
		return 0, false
	}
	left := s.queue - max(0, s.free-at)
	n = int(left.Seconds() * s.bps / 8)
	if allowed, limited := s.allowance.room(at, s.queue); limited {
		n = min(n, allowed)
	}
	return n, true
}

// clear is when the link will have sent all it was given.
func (s *shaper) clear(at time.Duration) time.Duration {
	return max(at, s.free, s.allowance.free)
}

// take sends n bytes at a time and returns when the last of them is through.
func (s *shaper) take(at time.Duration, n int) time.Duration {
	if s.bps == 0 {
		return at
	}
	s.free = max(s.free, at-s.burst) + s.cost(n)
	return max(s.free, s.allowance.take(at, n))
}
