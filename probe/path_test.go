//go:build linux

package probe

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/probe/wire"
)

// pathConfig is what a path between two machines is like.
type pathConfig struct {
	delay time.Duration // one way
	mbps  float64       // of IP packets; 0: no limit
	queue time.Duration // longest wait for the rate; 0: 100 ms
	loss  float64       // 0 to 1
	mtu   int           // of the machines; 0: 1500
	fate  fate          // of a round trip's packets; nil: they are carried
	most  int           // bytes of an IP packet that is carried, others are dropped in silence; 0: all are
}

// path is two agents in namespaces of their own, and the wire between them: a
// TUN device in each, and this process carrying the packets.
type path struct {
	from, to *process
	peer     wire.Peer // the agent of to
	cut      atomic.Bool
	bytes    atomic.Int64 // carried towards to

	datagrams datagramCount // towards to
}

// newPath needs root; under CI=true it may not be skipped.
func newPath(t *testing.T, c pathConfig) *path {
	t.Helper()
	needRoot(t)
	if c.mtu == 0 {
		c.mtu = 1500
	}
	p := &path{from: startProcess(t, true), to: startProcess(t, true)}
	a := newTun(t, p.from.cmd.Process.Pid, "10.99.0.1/24", c.mtu)
	b := newTun(t, p.to.cmd.Process.Pid, "10.99.0.2/24", c.mtu)
	var wg sync.WaitGroup
	wg.Go(func() { p.carry(a, b, c, &p.bytes, &p.datagrams) })
	wg.Go(func() { p.carry(b, a, c, new(atomic.Int64), new(datagramCount)) })
	t.Cleanup(func() { a.Close(); b.Close(); wg.Wait() })
	p.from.serve()
	p.peer = wire.Peer{Addr: "10.99.0.2", Port: p.to.serve()}
	return p
}

// needRoot skips the test of an ordinary user, except where it must run.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 && os.Getenv("CI") != "true" {
		t.Skip("making namespaces needs root")
	}
}

// newTun makes a TUN device in the namespace of a process.
func newTun(t *testing.T, pid int, cidr string, mtu int) *os.File {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	home, err := netns.Get()
	must(t, err)
	defer home.Close()
	ns, err := netns.GetFromPid(pid)
	must(t, err)
	defer ns.Close()
	must(t, netns.Set(ns))
	defer netns.Set(home)
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	must(t, err)
	req, err := unix.NewIfreq("path0")
	must(t, err)
	req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	must(t, unix.IoctlIfreq(fd, unix.TUNSETIFF, req))
	link, err := netlink.LinkByName("path0")
	must(t, err)
	addr, err := netlink.ParseAddr(cidr)
	must(t, err)
	must(t, netlink.LinkSetMTU(link, mtu))
	must(t, netlink.LinkSetTxQLen(link, 10000))
	must(t, netlink.AddrAdd(link, addr))
	must(t, netlink.LinkSetUp(link))
	return os.NewFile(uintptr(fd), fmt.Sprint("tun of ", pid))
}

type parcel struct {
	due  time.Time
	data []byte
}

// carry moves packets until in is closed.
func (p *path) carry(in, out *os.File, c pathConfig, carried *atomic.Int64, datagrams *datagramCount) {
	queue := make(chan parcel, 1<<16)
	var wg sync.WaitGroup
	wg.Go(func() {
		for q := range queue {
			time.Sleep(time.Until(q.due))
			carried.Add(int64(len(q.data))) // first: who gets it may ask at once
			datagrams.carry(q.data)
			out.Write(q.data)
		}
	})
	defer wg.Wait()
	defer close(queue)
	limit := c.queue
	if limit == 0 {
		limit = 100 * time.Millisecond
	}
	var free time.Time // when the bottleneck will be
	buf := make([]byte, 1<<16)
	for {
		n, err := in.Read(buf)
		if err != nil {
			return
		}
		now := time.Now()
		if free.Before(now) {
			free = now
		}
		isTCP := n > 20 && buf[0]>>4 == 4 && buf[9] == unix.IPPROTO_TCP && binary.BigEndian.Uint16(buf[2:]) > 100
		if p.cut.Load() || c.most > 0 && n > c.most || free.Sub(now) > limit || isTCP && rand.Float64() < c.loss {
			datagrams.drop(buf[:n])
			continue
		}
		if c.mbps > 0 {
			free = free.Add(time.Duration(float64(n) * 8e3 / c.mbps))
		}
		packet := append([]byte(nil), buf[:n]...)
		copies := []time.Duration{0}
		if c.fate != nil && isProbe(packet) {
			copies = c.fate(packet)
		}
		for _, extra := range copies {
			if extra > 0 { // others overtake it
				time.AfterFunc(time.Until(free)+c.delay+extra, func() { out.Write(packet) })
				continue
			}
			select {
			case queue <- parcel{free.Add(c.delay), packet}:
			default:
			}
		}
	}
}
