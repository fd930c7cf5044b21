//go:build linux

package probe

import (
	"fmt"
	"io"
	"net"
	"time"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

const (
	// maxControlLine is the longest line but for a result, which may have as
	// much as wire.MaxLine.
	maxControlLine = 64 << 10
	// handshakeTimeout is from accept to proof. The slowest honest path needs
	// one round trip and a retransmission.
	handshakeTimeout = 5 * time.Second
	// connectTimeout is for opening a connection, handshake included.
	connectTimeout = 10 * time.Second
	// newsInterval is between two signs of life of a receiving server.
	newsInterval = 100 * time.Millisecond
	// silenceLimit is how long a live peer can stay silent: fifty missed news,
	// or several retransmissions of one on a bad path.
	silenceLimit = 5 * time.Second
)

// order is the client's first line; exactly one pointer is set.
type order struct {
	Receive    *receiveOrder    `json:"receive,omitempty"`
	Send       *wire.Throughput `json:"send,omitempty"` // to the client; it says nothing of whom
	Echo       *echoOrder       `json:"echo,omitempty"`
	UDP        *udpOrder        `json:"udp,omitempty"`
	Yield      *yieldOrder      `json:"yield,omitempty"`
	DeadlineMs float64          `json:"deadline_ms"` // the session ends then, whatever happens
}

type receiveOrder struct {
	Streams     int   `json:"streams"`
	WindowBytes int64 `json:"window_bytes,omitempty"` // the most to offer each; 0: the kernel's choice
}

func (o *receiveOrder) validate() error {
	switch {
	case o.Streams < 1 || o.Streams > wire.MaxStreams:
		return fmt.Errorf("order: %d streams", o.Streams)
	case o.WindowBytes != 0 && (o.WindowBytes < wire.MinBufferBytes || o.WindowBytes > wire.MaxBufferBytes):
		return fmt.Errorf("order: a window of %d bytes", o.WindowBytes)
	}
	return nil
}

type echoOrder struct {
	Probes int `json:"probes"`
}

// yieldOrder has an agent give up its port and end: see yield.
type yieldOrder struct{}

func (o order) validate() error {
	asks := 0
	for _, asked := range []bool{o.Receive != nil, o.Send != nil, o.Echo != nil, o.UDP != nil, o.Yield != nil} {
		if asked {
			asks++
		}
	}
	switch {
	case !(o.DeadlineMs >= 1 && o.DeadlineMs <= wire.MaxDeadlineMs):
		return fmt.Errorf("order: deadline_ms %v", o.DeadlineMs)
	case asks != 1:
		return fmt.Errorf("order: want one of receive, send, echo and udp, or yield")
	case o.Receive != nil:
		return o.Receive.validate()
	case o.Send != nil:
		return o.Send.ValidateTest()
	case o.Echo != nil && (o.Echo.Probes < 1 || o.Echo.Probes > wire.MaxProbes):
		return fmt.Errorf("order: %d probes", o.Echo.Probes)
	}
	return nil
}

// done is the client's last line of an echo session.
type done struct {
	Done bool `json:"done"`
}

// news is a line from the server, or from a client that receives.
type news struct {
	Error   string   `json:"error,omitempty"`
	Ready   bool     `json:"ready,omitempty"`   // for the order; from a client, all its streams are open
	Samples []point  `json:"samples,omitempty"` // since the last news
	Count   *count   `json:"count,omitempty"`   // receive: the last line
	Held    []uint32 `json:"held,omitempty"`    // echo, after done: see echo.held, some more of them
	Echoed  *echoed  `json:"echoed,omitempty"`  // echo: the last line
	UDP     *udpNews `json:"udp,omitempty"`

	Host *trace.Host `json:"host,omitempty"` // receive: of the receiver's machine, with the count

	Result *wire.ThroughputResult `json:"result,omitempty"` // send: the last line
}

// echoed is what a responder saw.
type echoed struct {
	Answered     int    `json:"answered"`       // queries, each once
	Duplicates   int    `json:"duplicates"`     // queries that came again
	Reordered    int    `json:"reordered"`      // queries
	SendingNs    uint32 `json:"sending_ns"`     // from a call that sends to the departure, lowest tenth; 0 if it is not known
	ClockSet     bool   `json:"clock_set"`      // its wall clock was, lately
	ClockErrorUs int64  `json:"clock_error_us"` // of its wall clock, at most; -1 if nobody keeps it
	Client       string `json:"client"`         // the address it answers
	Own          string `json:"own"`            // the address at which it was asked
}

// count is what a receiver counted, first byte to last byte.
type count struct {
	Bytes   int64   `json:"bytes"`
	SpanUs  int64   `json:"span_us"`
	Streams []int64 `json:"streams"` // bytes of each
}

func (c count) span() time.Duration { return time.Duration(c.SpanUs) * time.Microsecond }

// control is an authenticated control connection.
type control struct {
	conn *net.TCPConn
	in   *wire.Reader
	out  *wire.Writer
	handshake
}

// newControl takes lines of at most maxLine bytes from the other side.
func newControl(conn *net.TCPConn, h handshake, maxLine int) (*control, error) {
	err := conn.SetKeepAliveConfig(net.KeepAliveConfig{
		Enable: true, Idle: silenceLimit, Interval: time.Second, Count: 5,
	})
	if err != nil {
		return nil, err
	}
	if err := setUserTimeout(conn, 2*silenceLimit); err != nil {
		return nil, err
	}
	return &control{
		conn:      conn,
		in:        wire.NewReaderSize(conn, maxLine),
		out:       wire.NewWriter(conn),
		handshake: h,
	}, nil
}

// readNews waits for one line, at most until by.
func (c *control) readNews(by time.Time) (news, error) {
	if err := c.conn.SetReadDeadline(by); err != nil {
		return news{}, err
	}
	return c.read()
}

// read waits for one line, until the read deadline in force.
func (c *control) read() (n news, err error) {
	if err := c.in.Read(&n); err != nil {
		return n, gone(err)
	}
	if n.Error != "" {
		return n, fmt.Errorf("peer: %.200s", n.Error)
	}
	return n, nil
}

// gone names the end of a connection that should have gone on.
func gone(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errPeerDied
	}
	return err
}
