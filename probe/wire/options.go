package wire

import (
	"errors"
	"fmt"
)

// Limits of what may be asked of a socket.
const (
	MinBufferBytes = 2048    // below it no kernel goes
	MaxBufferBytes = 1 << 30 // as far as a TCP window reaches
	MinMSSBytes    = 88      // the kernel's TCP_MIN_MSS
	MaxMSSBytes    = 32767   // its MAX_TCP_WINDOW, which bounds TCP_MAXSEG
	MaxDSCP        = 63      // six bits
)

// TCPOptions are wishes about the sockets and the sending of a throughput test.
// Zero leaves each to the kernels.
type TCPOptions struct {
	SendBufferBytes    int64   `json:"send_buffer_bytes,omitempty"`    // of each of the sender's sockets, SO_SNDBUF
	ReceiveWindowBytes int64   `json:"receive_window_bytes,omitempty"` // the most that the receiver offers each stream, TCP_WINDOW_CLAMP
	MSSBytes           int     `json:"mss_bytes,omitempty"`            // the most that is agreed upon, TCP options included, TCP_MAXSEG
	NoDelay            bool    `json:"no_delay,omitempty"`             // send small segments at once, TCP_NODELAY
	DSCP               int     `json:"dscp,omitempty"`                 // of the data packets, 0 to 63
	PacingBps          float64 `json:"pacing_bps,omitempty"`           // bit/s of all streams: the kernel sends no faster, SO_MAX_PACING_RATE
	RateBps            float64 `json:"rate_bps,omitempty"`             // bit/s of all streams: the application offers no more
	ClientPort         int     `json:"client_port,omitempty"`          // of the first stream on the side that connects; the others follow
}

// TCPGranted is what the sender's kernel made of them, on the first stream, and
// what the receiver's did with the window.
type TCPGranted struct {
	SendBufferBytes    int64   `json:"send_buffer_bytes"`    // at the end; as the kernel counts, which doubles what it is asked for
	ReceiveWindowBytes int64   `json:"receive_window_bytes"` // largest that was offered to a stream in the second half of the test, their mean
	NoDelay            bool    `json:"no_delay"`
	DSCP               int     `json:"dscp"`
	PacingBps          float64 `json:"pacing_bps,omitempty"` // bit/s of all streams; 0: not limited
}

// Validate says what is wrong with o, for so many streams.
func (o *TCPOptions) Validate(streams int) error {
	wish := func(name string, v, low, high float64) error {
		if v == 0 {
			return nil
		}
		return within("throughput: "+name, v, low, high)
	}
	if o.ClientPort < 0 || o.ClientPort > 0 && o.ClientPort+streams-1 > 65535 {
		return fmt.Errorf("throughput: client_port %d, want 1 to 65535 for the last of %d streams", o.ClientPort, streams)
	}
	return errors.Join(
		wish("send_buffer_bytes", float64(o.SendBufferBytes), MinBufferBytes, MaxBufferBytes),
		wish("receive_window_bytes", float64(o.ReceiveWindowBytes), MinBufferBytes, MaxBufferBytes),
		wish("mss_bytes", float64(o.MSSBytes), MinMSSBytes, MaxMSSBytes),
		wish("dscp", float64(o.DSCP), 0, MaxDSCP),
		wish("pacing_bps", o.PacingBps, MinRateBps, MaxRateBps),
		wish("rate_bps", o.RateBps, MinRateBps, MaxRateBps))
}
