//go:build linux

package probe

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// datagramCount is what became of the datagrams of UDP throughput tests on a
// path. Those that only open a test are left out.
type datagramCount struct {
	mu          sync.Mutex
	seen        datagramsSeen
	first, last time.Time // carried
}

type datagramsSeen struct {
	carried, dropped int64
	bps              float64 // of payload, from the first one carried to the last one; 0: not two moments
}

// carry counts a packet that is about to be carried.
func (c *datagramCount) carry(ip []byte) {
	if !isDatagram(ip) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Now()
	if c.seen.carried++; c.seen.carried == 1 {
		c.first = c.last
	}
	if span := c.last.Sub(c.first).Seconds(); span > 0 { // all but a test's last are of one size
		c.seen.bps = float64(c.seen.carried-1) * 8 * float64(len(ip)-probeAt) / span
	}
}

func (c *datagramCount) drop(ip []byte) {
	if !isDatagram(ip) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.dropped++
}

// take is what was seen since it was last called.
func (c *datagramCount) take() datagramsSeen {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	c.seen = datagramsSeen{}
	return seen
}

func isDatagram(ip []byte) bool {
	return len(ip) >= probeAt+datagramHeaderBytes && len(ip) != probeAt+helloBytes &&
		ip[9] == unix.IPPROTO_UDP && ip[probeAt+8]&(trialBit>>56) == 0
}
