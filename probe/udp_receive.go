//go:build linux

package probe

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// superBytes holds the most that a kernel delivers together.
	superBytes = 64 << 10
	// superBatch is how many of these are taken at a time, few enough for a
	// processor's cache, datagramBatch how many single datagrams.
	superBatch    = 4
	datagramBatch = 64

	// A receiver is behind when something has waited longWait in its socket; a
	// sender that goes as fast as it can then takes a breather. That is flow
	// control, as TCP's window is: what a program can't read in time says nothing
	// of the path.
	longWait = time.Millisecond
	breather = 2 * time.Millisecond

	// A receiver waits for the last datagrams until none has come for a while:
	// longer if some are missing, and never longer than tailLimit.
	tailQuiet   = 200 * time.Millisecond
	tailMissing = 500 * time.Millisecond
	tailLimit   = 5 * time.Second
)

// udpOrder asks for a UDP throughput session.
type udpOrder struct {
	Offload bool `json:"offload,omitempty"` // receive offload, if the kernel has it
}

// udpSent is the client's last line of a UDP throughput session.
type udpSent struct {
	Datagrams int64 `json:"datagrams"`
}

// udpNews is what a server says in such a session.
type udpNews struct {
	TrialBytes int       `json:"trial_bytes,omitempty"` // of the longest trial datagram that came
	Offload    bool      `json:"offload,omitempty"`     // with TrialBytes: it receives with offload
	Behind     bool      `json:"behind,omitempty"`      // the receiving program does not keep up
	Count      *udpCount `json:"count,omitempty"`       // so far, or with Final for good
	Final      bool      `json:"final,omitempty"`
}

// udpReceiver is the receiving side of one UDP throughput test: it counts.
type udpReceiver struct {
	socket  *udpSocket
	ended   atomic.Bool
	tag     datagramTag
	offload bool
	began   time.Time
	seqs    []uint64 // of one message

	mu     sync.Mutex
	tally  *udpTally
	latest time.Time // when something of the test came
	trial  int       // bytes of the longest trial datagram
	tried  chan int  // tells when it has grown
	warned time.Time
	behind chan struct{} // tells that datagrams wait in the socket
}

func newUDPReceiver(socket *udpSocket, key mac, offload bool) (*udpReceiver, error) {
	r := &udpReceiver{socket: socket, tag: newDatagramTag(key), began: time.Now(), tally: newUDPTally(), tried: make(chan int, 1), behind: make(chan struct{}, 1)}
	var err error
	r.offload, err = prepareReceiver(socket, offload)
	return r, err
}

// receive counts until the receiver has ended. With offload it reads whatever the
// kernel delivers together to the last header: a kernel puts together what
// arrived one after the other, with the holes and the disorder the path made.
// Without, it reads the headers only.
func (r *udpReceiver) receive() error {
	n, bytes := datagramBatch, datagramHeaderBytes
	if r.offload {
		n, bytes = superBatch, superBytes
	}
	in := newBatch(r.socket, n, bytes)
	in.takeControl(ancillaryBytes)
	for !r.ended.Load() {
		n, err := in.receive()
		if err != nil && !isRefused(err) {
			return err
		}
		r.take(in, n)
	}
	return nil
}

func (r *udpReceiver) take(in *batch, n int) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range n {
		data, length, control := in.received(i)
		stamp, segment := parseDelivery(control)
		if segment == 0 {
			segment = length
		}
		r.message(data, length, segment, r.moment(now, stamp))
	}
}

// moment is when something arrived, since the session began: by the kernel's
// stamp, unless the wall clock, which that is of, was set meanwhile.
func (r *udpReceiver) moment(now, stamp time.Time) time.Duration {
	at := now.Sub(r.began)
	if waited := now.Sub(stamp); !stamp.IsZero() && waited > 0 && waited < time.Second {
		at -= waited
		if waited > longWait {
			r.warn(now)
		}
	}
	return at
}

// warn tells the client, but not more often than it listens.
func (r *udpReceiver) warn(now time.Time) {
	if now.Sub(r.warned) < breather {
		return
	}
	r.warned = now
	select {
	case r.behind <- struct{}{}:
	default:
	}
}

// message counts the datagrams, of so many bytes each, of one that is length
// bytes long.
func (r *udpReceiver) message(data []byte, length, bytes int, at time.Duration) {
	r.seqs = r.seqs[:0]
	var sent time.Duration // of the first
	for ; bytes > 0 && len(data) >= datagramHeaderBytes && length >= bytes; length -= bytes {
		h, ok := r.tag.read(data)
		data = data[min(bytes, len(data)):]
		switch {
		case !ok:
		case h.seq&trialBit != 0:
			r.try(bytes)
		default:
			if len(r.seqs) == 0 {
				sent = h.sent
			}
			r.seqs = append(r.seqs, h.seq)
		}
	}
	if len(r.seqs) > 0 {
		r.latest = time.Now()
		r.tally.arrival(sent, at, r.seqs, bytes)
	}
}

// try notes that a trial datagram got through.
func (r *udpReceiver) try(bytes int) {
	if bytes <= r.trial {
		return
	}
	r.trial = bytes
	select {
	case <-r.tried: // superseded
	default:
	}
	r.tried <- bytes
}

// count is what was counted so far, and when the latest of it came.
func (r *udpReceiver) count() (udpCount, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.tally.udpCount
	c.Next = int64(r.tally.next)
	if c.Datagrams > 0 {
		c.AtNs = max(c.SpanNs, int64(time.Since(r.began)-r.tally.first))
	}
	return c, r.latest
}
