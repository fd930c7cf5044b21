//go:build linux

package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// usualMTUs are those that networks have: of loopback, EC2, Google Cloud, Ethernet,
// and of what tunnels leave of it, down to what IPv6 guarantees and IPv4 hosts
// take.
var usualMTUs = [...]int{576, 1280, 1380, 1400, 1420, 1440, 1460, 1480, 1492, 1500, 8500, 8896, 9000, 9001, 65535}

const (
	// sizesAtOnce are tried between two sizes of which one passed.
	sizesAtOnce = 8
	// sizedTries is how often a size is sent before it is taken not to pass.
	sizedTries = 3
	// sizedGap is between two tries.
	sizedGap = 20 * time.Millisecond
	// sizedLimit is for everything: a path that needs more stays unknown.
	sizedLimit = 5 * time.Second
	// sizedRounds are enough for 65,535 bytes: each leaves an eighth.
	sizedRounds = 8
	maxMTU      = 65535
)

// bracket is what is known of a path's MTU: the largest size that passed, 0 if
// none did, and the smallest above that did not.
type bracket struct{ passed, failed int }

func (b bracket) known() bool { return b.passed > 0 && b.failed == b.passed+1 }

// next are the sizes to try: first the usual ones, then some in between, of which
// the first would settle it: most often the usual size is the right one.
func (b bracket) next() (sizes []int) {
	if b.passed == 0 {
		for _, size := range usualMTUs {
			if size < b.failed {
				sizes = append(sizes, size)
			}
		}
		return sizes
	}
	between := b.failed - b.passed - 1
	n := min(between, sizesAtOnce)
	for i := range n {
		sizes = append(sizes, b.passed+1+i*between/n)
	}
	return sizes
}

// learn takes in which of the tried sizes passed.
func (b bracket) learn(tried []int, passed func(size int) bool) bracket {
	for _, size := range tried {
		if passed(size) {
			b.passed = max(b.passed, size)
		}
	}
	for _, size := range tried {
		if size > b.passed {
			b.failed = min(b.failed, size)
		}
	}
	return b
}

// sizer finds out which sizes of packet a path carries.
type sizer struct {
	test  *pinger
	conn  *net.UDPConn
	extra int // bytes of IP and UDP headers

	mu     sync.Mutex
	signer *signer
	sizes  []int  // by sequence number
	fits   []bool // by sequence number
	heard  chan struct{}
}

// pathMTU is the size of the largest IP packet that reaches the peer, 0 if it is
// not found out. A path that drops what is too large without a word costs a few
// round trips; longest is the longest one seen.
func pathMTU(ctx context.Context, test *pinger, longest time.Duration) int {
	conn, err := dialUDP(test.ctl, test.peer)
	if err != nil {
		return 0
	}
	s := &sizer{test: test, conn: conn, extra: headerBytes(test.peer.Addr()), signer: newSigner(test.ctl.key), heard: make(chan struct{}, 1)}
	var receiving sync.WaitGroup
	defer receiving.Wait()
	defer conn.Close()
	if onFD(conn, dontFragment) != nil {
		return 0
	}
	in, err := newInbox(conn)
	if err != nil {
		return 0
	}
	receiving.Go(func() { in.each(s.hear) })
	b := bracket{failed: maxMTU + 1}
	for range sizedRounds {
		b = s.round(ctx, b, 2*longest+sizedGap)
		if ctx.Err() != nil || b.passed == 0 {
			return 0
		}
		if b.known() {
			return b.passed
		}
	}
	return 0
}

func headerBytes(peer netip.Addr) int {
	if peer.Is4() {
		return 20 + 8
	}
	return 40 + 8
}

// dontFragment has packets leave whole or not at all, whatever the kernel has
// heard of the path so far (ip(7), IP_MTU_DISCOVER).
func dontFragment(fd int) error {
	err4 := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE)
	err6 := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE)
	if err4 != nil && err6 != nil {
		return err4
	}
	return nil
}

// round tries the next sizes, those that have not passed once more, and waits
// for the answers to the last.
func (s *sizer) round(ctx context.Context, b bracket, patience time.Duration) bracket {
	sizes := b.next()
	left := sizes
	for try := range sizedTries {
		left = s.send(left)
		wait := sizedGap
		if try == sizedTries-1 {
			wait = patience
		}
		s.await(ctx, left, wait)
		if left = s.missing(left); len(left) == 0 || ctx.Err() != nil {
			break
		}
	}
	return b.learn(sizes, s.passed)
}

// send sends a packet of each size and returns those that left: the rest is too
// large for this machine's own interface.
func (s *sizer) send(sizes []int) (left []int) {
	for _, size := range sizes {
		b := s.enter(size)
		if b == nil {
			return left
		}
		if _, err := s.conn.Write(b); !errors.Is(err, unix.EMSGSIZE) {
			left = append(left, size)
		}
	}
	return left
}

// enter gives a size the next sequence number and makes its packet, nil if there
// were too many already.
func (s *sizer) enter(size int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	seq := len(s.sizes)
	if seq >= maxSizes {
		return nil
	}
	s.sizes, s.fits = append(s.sizes, size), append(s.fits, false)
	b := make([]byte, size-s.extra)
	s.signer.encode(packet{kind: packetSized, session: s.test.ctl.id, seq: uint32(seq), number: uint32(len(b))}, b[:packetBytes])
	return b
}

// await ends when all sizes passed, or after d.
func (s *sizer) await(ctx context.Context, sizes []int, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for len(s.missing(sizes)) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-s.heard:
		}
	}
}

func (s *sizer) missing(sizes []int) []int {
	return slices.DeleteFunc(slices.Clone(sizes), s.passed)
}

func (s *sizer) passed(size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for seq, sent := range s.sizes {
		if sent == size && s.fits[seq] {
			return true
		}
	}
	return false
}

// hear takes an answer.
func (s *sizer) hear(a arrival) {
	if !s.take(a) {
		return
	}
	select {
	case s.heard <- struct{}{}:
	default: // await has one to look at
	}
}

func (s *sizer) take(a arrival) bool {
	p, err := parsePacket(a.head())
	if err != nil || p.kind != packetFits || p.session != s.test.ctl.id || a.size != packetBytes {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if int64(p.seq) >= int64(len(s.sizes)) || !s.signer.verify(a.head()) {
		return false
	}
	s.fits[p.seq] = true
	return true
}
