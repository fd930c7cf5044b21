//go:build linux

package router

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/world"
)

// Calibration is what this computer adds to the world's delays, and how much
// it can carry.
type Calibration struct {
	Kind link.Kind `json:"kind"`
	Cost Cost      `json:"cost"`

	// CapacityBps is what one flow of super-packets reached without a rate
	// limit, in bit/s from the IP header on.
	CapacityBps float64 `json:"capacity_bps"`
}

// Cost is the median time from the sender's system call to the receiver's
// kernel beyond the path's delay, one way. It is longer on long ways: the
// computer falls asleep meanwhile.
type Cost struct {
	Short time.Duration `json:"short_ns"` // on ways of shortWay and less
	Long  time.Duration `json:"long_ns"`  // on ways of longWay and more
}

const (
	shortWay = time.Millisecond
	longWay  = 10 * time.Millisecond
)

// of is the cost on a way with the delay.
func (c Cost) of(delay time.Duration) time.Duration {
	share := float64(delay-shortWay) / float64(longWay-shortWay)
	share = min(max(share, 0), 1)
	return c.Short + time.Duration(share*float64(c.Long-c.Short))
}

const (
	probes       = 32
	probeTimeout = time.Second

	capacityTime    = 100 * time.Millisecond
	capacitySegment = 1448
	discardPort     = 9
)

// Calibrate measures routers of its own between scratch namespaces with links
// of the kind. It takes about a second. Done before the machines start, or
// they are in its way.
func Calibrate(ctx context.Context, kind link.Kind) (Calibration, error) {
	c := Calibration{Kind: kind}
	for _, m := range []struct {
		way time.Duration
		use func(*stage) error
	}{
		{shortWay, func(s *stage) (err error) { c.Cost.Short, err = s.cost(ctx, shortWay); return err }},
		{longWay, func(s *stage) (err error) { c.Cost.Long, err = s.cost(ctx, longWay); return err }},
		{0, func(s *stage) (err error) { c.CapacityBps, err = s.capacity(); return err }},
	} {
		if err := onStage(kind, m.way, m.use); err != nil {
			return Calibration{}, fmt.Errorf("calibrate the router: %w", err)
		}
	}
	return c, nil
}

// stage is a router with two stations.
type stage struct {
	router   *Router
	from, to *station
}

// onStage has a stage used on which packets take a time one way.
func onStage(kind link.Kind, way time.Duration, use func(*stage) error) (err error) {
	r, err := New(Options{World: calibrationWorld(way)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	from, err := r.place(kind, "lab:from", netip.MustParseAddr("198.18.255.1"))
	if err != nil {
		return err
	}
	defer from.close()
	to, err := r.place(kind, "lab:to", netip.MustParseAddr("198.18.255.2"))
	if err != nil {
		return err
	}
	defer to.close()
	return use(&stage{r, from, to})
}

func calibrationWorld(way time.Duration) *world.World {
	delayMs := float64(way) / float64(time.Millisecond)
	return &world.World{
		Regions: []world.Region{{ID: "lab:from"}, {ID: "lab:to"}},
		Pairs:   []world.Pair{{From: "lab:from", To: "lab:to", DelayMs: &delayMs}},
	}
}

// station is a scratch namespace with an address and a socket.
type station struct {
	*scratch
	host *scratch
	addr netip.AddrPort
	conn *net.UDPConn
}

// place attaches a new station to the router.
func (r *Router) place(kind link.Kind, region string, addr netip.Addr) (_ *station, err error) {
	s := &station{addr: netip.AddrPortFrom(addr, discardPort)}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.scratch, err = newScratch(); err != nil {
		return nil, err
	}
	if s.host, err = newScratch(); err != nil {
		return nil, err
	}
	l, err := s.connect(kind, s.host, addr)
	if err != nil {
		return nil, err
	}
	if err := r.Attach(Endpoint{ID: region, Region: region, Addrs: []netip.Addr{addr}}, l); err != nil {
		return nil, err
	}
	everybody := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	r.SetRules(region, []vm.Rule{{Protocol: "udp", ToPort: 65535, Sources: []netip.Prefix{everybody}}})
	return s, s.do(func() error { return s.listen() })
}

func (s *station) listen() (err error) {
	if s.conn, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(s.addr)); err != nil {
		return err
	}
	return s.setOption(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
}

func (s *station) setOption(level, name, value int) error {
	raw, err := s.conn.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) { set = unix.SetsockoptInt(int(fd), level, name, value) })
	return errors.Join(err, set)
}

func (s *station) close() {
	if s.conn != nil {
		s.conn.Close()
	}
	for _, space := range []*scratch{s.scratch, s.host} {
		if space != nil {
			space.close()
		}
	}
}

// cost is the median of what probes need beyond the time of the way.
func (s *stage) cost(ctx context.Context, way time.Duration) (time.Duration, error) {
	var costs []time.Duration
	for range probes {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		time.Sleep(way) // as an answer would have let it
		sent := time.Now()
		if _, err := s.from.conn.WriteToUDPAddrPort([]byte("probe"), s.to.addr); err != nil {
			return 0, err
		}
		received, err := s.to.stamp(sent.Add(probeTimeout))
		if err != nil {
			return 0, err
		}
		costs = append(costs, received.Sub(sent)-way)
	}
	slices.Sort(costs)
	return max(0, costs[len(costs)/2]), nil
}

// stamp waits for a datagram and returns when the kernel received it.
func (s *station) stamp(deadline time.Time) (time.Time, error) {
	if err := s.conn.SetReadDeadline(deadline); err != nil {
		return time.Time{}, err
	}
	var b, control [64]byte
	_, n, _, _, err := s.conn.ReadMsgUDPAddrPort(b[:], control[:])
	if err != nil {
		return time.Time{}, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil {
		return time.Time{}, err
	}
	for _, m := range messages {
		if m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) >= 16 {
			s := binary.NativeEndian.Uint64(m.Data)
			ns := binary.NativeEndian.Uint64(m.Data[8:])
			return time.Unix(int64(s), int64(ns)), nil
		}
	}
	return time.Time{}, errors.New("kernel gave no receive time")
}

// capacity sends as fast as it can for a moment and counts what arrives.
func (s *stage) capacity() (float64, error) {
	if err := s.from.setOption(unix.SOL_UDP, unix.UDP_SEGMENT, capacitySegment); err != nil {
		return 0, err
	}
	b := make([]byte, 44*capacitySegment)
	start := time.Now()
	if err := s.from.conn.SetWriteDeadline(start.Add(capacityTime)); err != nil {
		return 0, err
	}
	for time.Since(start) < capacityTime {
		_, err := s.from.conn.WriteToUDPAddrPort(b, s.to.addr)
		if err != nil && !errors.Is(err, unix.ENOBUFS) && !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
	}
	spent := time.Since(start).Seconds()
	var bytes int64
	for _, c := range s.router.Counts() {
		bytes += c.Delivered.Bytes
	}
	return float64(bytes) * 8 / spent, nil
}
