//go:build linux

package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// icmpSocket sends echo requests to one address.
type icmpSocket struct {
	*solo
	v6     bool
	header bool // what it receives begins with an IP header, and what it sends needs a checksum
}

// Types of ICMP messages (RFC 792, RFC 4443), and the bytes before an echo's data.
const (
	echoRequest   = 8
	echoReply     = 0
	echoRequestV6 = 128
	echoReplyV6   = 129
	icmpBytes     = 8
)

// openICMP needs no rights where net.ipv4.ping_group_range has the user's group
// (icmp(7)), and CAP_NET_RAW elsewhere.
func openICMP(local, peer netip.Addr) (*icmpSocket, error) {
	s := &icmpSocket{v6: peer.Is6()}
	family, protocol := unix.AF_INET, unix.IPPROTO_ICMP
	if s.v6 {
		family, protocol = unix.AF_INET6, unix.IPPROTO_ICMPV6
	}
	const options = unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|options, protocol)
	if err != nil {
		s.header = !s.v6
		fd, err = unix.Socket(family, unix.SOCK_RAW|options, protocol)
	}
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	stampAll(fd)
	if err := errors.Join(unix.Bind(fd, sockaddr(local)), unix.Connect(fd, sockaddr(peer))); err != nil {
		unix.Close(fd)
		return nil, err
	}
	s.solo, err = newSolo(fd)
	return s, err
}

func sockaddr(a netip.Addr) unix.Sockaddr {
	if a.Is4() {
		return &unix.SockaddrInet4{Addr: a.As4()}
	}
	s := &unix.SockaddrInet6{Addr: a.As16()}
	if zone, err := net.InterfaceByName(a.Zone()); err == nil {
		s.ZoneId = uint32(zone.Index)
	}
	return s
}

// request is an echo request with the data.
func (s *icmpSocket) request(seq int, data []byte) []byte {
	b := make([]byte, icmpBytes, icmpBytes+len(data))
	b[0] = echoRequest
	if s.v6 {
		b[0] = echoRequestV6
	}
	binary.BigEndian.PutUint16(b[4:], uint16(os.Getpid()))
	binary.BigEndian.PutUint16(b[6:], uint16(seq))
	b = append(b, data...)
	if s.header {
		binary.BigEndian.PutUint16(b[2:], checksum(b))
	}
	return b
}

// checksum is that of RFC 1071, of an even number of bytes.
func checksum(b []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// reply is the data of an echo reply, nil for any other message.
func (s *icmpSocket) reply(b []byte) []byte {
	if s.header && len(b) > 0 {
		b = b[min(len(b), int(b[0]&0xf)*4):]
	}
	want := byte(echoReply)
	if s.v6 {
		want = echoReplyV6
	}
	if len(b) < icmpBytes || b[0] != want {
		return nil
	}
	return b[icmpBytes:]
}

// pingICMP measures round trips that the peer's kernel answers, one each
// interval, until all came or ctx ends. It is empty where ICMP is not allowed.
func pingICMP(ctx context.Context, local, peer netip.Addr, h handshake, every time.Duration) []time.Duration {
	s, err := openICMP(local, peer)
	if err != nil {
		return nil
	}
	var t trips
	t.init(h, pings, time.Hour) // ctx ends the wait
	s.departed = t.departed
	s.use(ctx, func() error { // the end of ctx is no error here
		take := func(a arrival) { t.takeEcho(s.reply(a.data), a.stamp, t.clock.now()) }
		if err := t.sendEchoes(ctx, s, every, take); err != nil {
			return err
		}
		return s.takeUntil(ctx, time.Now().Add(time.Hour), t.allSent(), take)
	})
	return t.echoTimes()
}

func (t *trips) sendEchoes(ctx context.Context, s *icmpSocket, every time.Duration, take func(arrival)) error {
	data := make([]byte, packetBytes)
	for i := range t.probes {
		t.encode(i, data)
		request := s.request(i, data)
		t.sending(i)
		s.send(request, nil, nil) // lost if it fails, as any packet
		if err := s.takeUntil(ctx, time.Now().Add(every), nil, take); err != nil {
			return err
		}
	}
	return nil
}

func (t *trips) takeEcho(data []byte, stamp int64, now moment) {
	q, err := parsePacket(data)
	if err != nil || q.kind != packetQuery || q.session != t.id {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if int64(q.seq) >= int64(t.sent) || !t.signer.verify(data) || !t.arrived.add(q.seq) {
		return
	}
	p := &t.probes[q.seq]
	p.got, p.came, p.answered = now, stamp, true
	t.received++
	t.check()
}

// echoTimes are of the kernel's stamps where nearly all have them.
func (t *trips) echoTimes() []time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	rtts := collect(t.probes, trip.between)
	if float64(len(rtts)) >= mostly*float64(t.received) {
		return rtts
	}
	return collect(t.probes, trip.byUser)
}
