//go:build linux

package probe

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

const (
	// connects is how many TCP connections are opened, and pings how many ICMP
	// echoes are sent: enough for a median.
	connects = 5
	pings    = 20
)

// facts are found out beside a round-trip test, in its time: a path on which
// TCP or ICMP is dropped costs no more of it.
type facts struct {
	test  *pinger
	local netip.Addr
	end   context.CancelFunc
	all   sync.WaitGroup

	connected []time.Duration
	pinged    []time.Duration
	mtu       int
}

// startFacts begins what runs while the probes do; finish must be called.
func startFacts(ctx context.Context, test *pinger) *facts {
	ctx, end := context.WithCancel(ctx)
	f := &facts{test: test, local: ownAddr(test.ctl.conn), end: end}
	span := test.every * time.Duration(len(test.probes))
	f.all.Go(func() { f.connected = connectTimes(ctx, f.local, test.peer, span/connects) })
	f.all.Go(func() { f.pinged = pingICMP(ctx, f.local, test.peer.Addr(), test.ctl.handshake, span/pings) })
	return f
}

// finish gives what still runs as long as a round trip may take, and then looks
// for the path's MTU.
func (f *facts) finish(ctx context.Context) {
	longest := f.test.longest()
	patience := time.AfterFunc(2*longest+sizedGap, f.end)
	f.all.Wait()
	patience.Stop()
	f.end()
	if longest > 0 {
		ctx, cancel := context.WithTimeout(ctx, sizedLimit)
		defer cancel()
		f.mtu = pathMTU(ctx, f.test, longest)
	}
}

// longest is the longest round trip so far, as user space saw it; 0 if none.
func (t *trips) longest() (longest time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.probes {
		if p.answered {
			longest = max(longest, p.elapsed())
		}
	}
	return longest
}

// result is what was found; last is the peer's last word, nil if there is none.
func (f *facts) result(last *lastWord) *wire.PathFacts {
	f.end()
	f.all.Wait()
	r := &wire.PathFacts{TCPConnectMs: inMs(median(f.connected)), ICMPP50Ms: inMs(median(f.pinged)), MTUBytes: f.mtu}
	if last != nil {
		r.FromAddressKind = kindOf(addrOf(last.Client), f.local)
		r.ToAddressKind = kindOf(f.test.peer.Addr(), addrOf(last.Own))
	}
	return r
}

// addrOf is not valid for a text that is no address.
func addrOf(text string) netip.Addr {
	addr, _ := netip.ParseAddr(text)
	return addr
}

// connectTimes opens TCP connections, one each interval, until ctx ends. Their
// times are the kernel's, from SYN to SYN-ACK; where it has none, since the SYN
// was lost, that of the system call.
func connectTimes(ctx context.Context, local netip.Addr, peer netip.AddrPort, every time.Duration) (times []time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	defer all.Wait()
	for range connects {
		all.Go(func() {
			if took, err := connectTime(ctx, local, peer); err == nil {
				mu.Lock()
				defer mu.Unlock()
				times = append(times, took)
			}
		})
		if !sleep(ctx, every) {
			break
		}
	}
	all.Wait()
	return times
}

func connectTime(ctx context.Context, local netip.Addr, peer netip.AddrPort) (time.Duration, error) {
	d := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(local, 0))}
	began := time.Now()
	conn, err := d.DialContext(ctx, "tcp", peer.String())
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	tcp := conn.(*net.TCPConn)
	defer abort(tcp)
	info, err := tcpInfo(tcp)
	if err == nil && info.Rtt > 0 {
		took = time.Duration(info.Rtt) * time.Microsecond
	}
	return took, nil
}

// sleep is false if ctx ended before d has passed.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
