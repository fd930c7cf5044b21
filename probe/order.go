//go:build linux

package probe

// sequence counts packets that came in another order than they were sent in:
// those with a smaller number than one that came before (RFC 4737, section 3).
type sequence struct {
	next      uint32 // one more than the largest that came
	reordered int
}

// see takes the number of a packet that is no duplicate.
func (s *sequence) see(number uint32) {
	if number < s.next {
		s.reordered++
		return
	}
	s.next = number + 1
}

// set is a set of small numbers.
type set []uint64

func newSet(limit int) set { return make(set, (limit+63)/64) }

// add is true the first time for each number, which must be below the limit.
func (s set) add(n uint32) bool {
	word, bit := n/64, uint64(1)<<(n%64)
	if s[word]&bit != 0 {
		return false
	}
	s[word] |= bit
	return true
}
