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

// Cost is the median time from a packet's departure to its arrival, as both
// kernels stamp them, beyond the path's delay, one way. What a process needs to
// get its packet that far is not of the way, and a program that measures it by
// stamps does not see it. It is longer on long ways: the computer falls asleep
// meanwhile.
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
	s.conn, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(s.addr))
	return err
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
	if err := s.stamped(); err != nil {
		return 0, err
	}
	var costs []time.Duration
	for range probes {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		time.Sleep(way) // as an answer would have let it
		took, err := s.trip()
		if err != nil {
			return 0, err
		}
		costs = append(costs, took-way)
	}
	slices.Sort(costs)
	return max(0, costs[len(costs)/2]), nil
}

// stamped has the kernels stamp departures from the one station, with nothing
// else of the packet, and arrivals at the other.
func (s *stage) stamped() error {
	const departures = unix.SOF_TIMESTAMPING_TX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE | unix.SOF_TIMESTAMPING_OPT_TSONLY
	const arrivals = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE
	return errors.Join(s.from.setOption(unix.SOL_SOCKET, unix.SO_TIMESTAMPING, departures),
		s.to.setOption(unix.SOL_SOCKET, unix.SO_TIMESTAMPING, arrivals))
}

// trip is how long a datagram is on its way, from kernel to kernel.
func (s *stage) trip() (time.Duration, error) {
	deadline := time.Now().Add(probeTimeout)
	if _, err := s.from.conn.WriteToUDPAddrPort([]byte("probe"), s.to.addr); err != nil {
		return 0, err
	}
	came, err := s.to.arrival(deadline)
	if err != nil {
		return 0, err
	}
	left, err := s.from.departure()
	return came.Sub(left), err
}

// arrival waits for a datagram and returns when it reached the kernel.
func (s *station) arrival(deadline time.Time) (time.Time, error) {
	if err := s.conn.SetReadDeadline(deadline); err != nil {
		return time.Time{}, err
	}
	var b, control [256]byte
	_, n, _, _, err := s.conn.ReadMsgUDPAddrPort(b[:], control[:])
	if err != nil {
		return time.Time{}, err
	}
	return stamp(control[:n])
}

// departure is when the latest datagram left the kernel. The stamp is there once
// the datagram has arrived anywhere.
func (s *station) departure() (at time.Time, err error) {
	raw, err := s.conn.SyscallConn()
	if err != nil {
		return at, err
	}
	var b, control [256]byte
	var n int
	var failed error
	err = raw.Control(func(fd uintptr) {
		_, n, _, _, failed = unix.Recvmsg(int(fd), b[:], control[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
	})
	if err = errors.Join(err, os.NewSyscallError("recvmsg of a departure", failed)); err != nil {
		return at, err
	}
	return stamp(control[:n])
}

// stamp is the time in what a kernel says of a packet.
func stamp(control []byte) (time.Time, error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return time.Time{}, err
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPING && len(m.Data) >= 16 {
			s := binary.NativeEndian.Uint64(m.Data)
			ns := binary.NativeEndian.Uint64(m.Data[8:])
			return time.Unix(int64(s), int64(ns)), nil
		}
	}
	return time.Time{}, errors.New("the kernel did not stamp a packet")
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
