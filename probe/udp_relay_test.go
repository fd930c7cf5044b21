//go:build linux

package probe

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/antipode-bench/antipode/probe/wire"
)

// relay stands before a server as an address translator does: what it passes on
// comes from ports of its own. To the datagrams of a test it does worse, and
// counts what it did.
type relay struct {
	onTCP func([]byte) []byte // changes what the client says; may be nil

	random *rand.Rand
	out    *net.UDPConn
	held   []byte // a datagram that the next one overtakes

	passed, reordered, duplicates int64 // passed: each once
}

// startRelay relays one session until done is called or the test ends; then the
// counts may be read.
func startRelay(t *testing.T, server wire.Peer) (r *relay, peer wire.Peer, done func()) {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	in, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	must(t, err)
	out, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: server.Port})
	must(t, err)
	r = &relay{random: rand.New(rand.NewPCG(3, 4)), out: out}
	var wg sync.WaitGroup
	wg.Go(func() { r.relayTCP(l, server.Port) })
	wg.Go(func() { r.relayUDP(in) })
	closeAll := sync.OnceFunc(func() { l.Close(); in.Close(); wg.Wait(); out.Close() })
	t.Cleanup(closeAll)
	return r, wire.Peer{Addr: "127.0.0.1", Port: port}, closeAll
}

// relayTCP ends with the listener, and with the connections.
func (r *relay) relayTCP(l *net.TCPListener, port int) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		from, err := l.AcceptTCP()
		if err != nil {
			return
		}
		to, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		if err != nil {
			from.Close()
			return
		}
		wg.Go(func() { defer from.Close(); io.Copy(from, to) })
		wg.Go(func() { defer to.Close(); r.toServer(from, to) })
	}
}

func (r *relay) toServer(from, to net.Conn) {
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		to.Write(r.change(b[:n]))
	}
}

// change looks at what is on its way to the server.
func (r *relay) change(b []byte) []byte {
	if r.onTCP == nil {
		return b
	}
	return r.onTCP(b)
}

func (r *relay) relayUDP(in *net.UDPConn) {
	b := make([]byte, 2000)
	for {
		n, err := in.Read(b)
		if err != nil {
			return
		}
		if n == helloBytes || b[8]&0x80 != 0 { // a knock or a trial
			r.out.Write(b[:n])
			continue
		}
		r.mangle(b[:n])
	}
}

// mangle loses one of ten, sends one of twenty twice, and lets another of twenty
// be overtaken by the next one that gets through.
func (r *relay) mangle(b []byte) {
	dice := r.random.IntN(20)
	switch {
	case dice < 2:
		return
	case dice == 2:
		r.duplicates++
		r.out.Write(b)
	case dice == 3 && r.held == nil:
		r.held = slices.Clone(b)
		return
	}
	r.passed++
	r.out.Write(b)
	if r.held != nil {
		r.passed++
		r.reordered++
		r.out.Write(r.held)
		r.held = nil
	}
}

// TestUDPCountsTheTruth also proves that a session does not mind an address
// translator.
func TestUDPCountsTheTruth(t *testing.T) {
	for name, offload := range map[string]bool{"single": false, "offload": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, server := startServer(t)
			relay, peer, done := startRelay(t, server)
			got, err := NewClient(testSecret).UDP(t.Context(), wire.UDP{
				Peer: peer, RateBps: 40e6, DatagramBytes: 1000, Bytes: 3_000_000, Offload: offload, DeadlineMs: deadlineMs})
			must(t, err)
			done()
			if got.Sent != 3000 || got.Received != relay.passed || got.Reordered != relay.reordered || got.Duplicates != relay.duplicates {
				t.Errorf("want %d through, %d reordered and %d twice of 3000, got %+v", relay.passed, relay.reordered, relay.duplicates, *got)
			}
		})
	}
}

// TestUDPWithoutOffloadAtThePeer has a server that was not asked for it, as one
// whose kernel does not have it.
func TestUDPWithoutOffloadAtThePeer(t *testing.T) {
	_, server := startServer(t)
	relay, peer, _ := startRelay(t, server)
	relay.onTCP = func(b []byte) []byte { return bytes.Replace(b, []byte(`{"offload":true}`), []byte(`{}`), 1) }
	got, err := NewClient(testSecret).UDP(t.Context(), wire.UDP{
		Peer: peer, RateBps: 10e6, DatagramBytes: 1000, Bytes: 500_000, Offload: true, DeadlineMs: deadlineMs})
	must(t, err)
	if got.Sent != 500 || got.Offload {
		t.Errorf("%+v", *got)
	}
}
