package lab

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/vm"
)

// protocolVersion of the control socket. A controller of another build says so
// instead of misreading a lab that was started by an older one.
const protocolVersion = 3

// What a controller asks. One JSON value is one packet of a SOCK_SEQPACKET
// socket. An answer's payload is a descriptor that rides along (SCM_RIGHTS): the
// connection for opDial, ways in for opEnter, otherwise an in-memory file, because packets are short.
const (
	opDial      = "dial"
	opCancel    = "cancel" // ends the request of the same ID early
	opDetach    = "detach" // the lab may outlive this connection
	opInventory = "inventory"
	opWorld     = "world"
	opCounts    = "counts"
	opFlows     = "flows"
	opMachine   = "machine" // starts request.Machine; the payload is its vm.Addresses
	opRegions   = "regions"
	opEnter     = "enter" // request.Region; three descriptors: its network namespace, the machine binary, a pipe that closes with the lab
)

// request is one packet to the inner.
type request struct {
	ID      uint64 `json:"id"`
	Op      string `json:"op"`
	Network string `json:"network,omitempty"`
	Addr    string `json:"addr,omitempty"`
	Between string `json:"between,omitempty"` // of opCounts: these two regions only, "aws:us-east-1>gcp:us-east4"

	Region  string   `json:"region,omitempty"` // "cloud:region"
	Machine *vm.Spec `json:"machine,omitempty"`
}

// response is one packet from the inner. The first one of a connection is the
// hello, with ID 0.
type response struct {
	ID    uint64     `json:"id"`
	Error *wireError `json:"error,omitempty"`
	Hello *hello     `json:"hello,omitempty"`
}

// hello says that the lab is up.
type hello struct {
	Version   int       `json:"version"`
	Endpoints Endpoints `json:"endpoints"`
}

// setup is everything an inner is told, on an inherited descriptor.
type setup struct {
	Named  bool         `json:"named"`
	World  []byte       `json:"world"` // as a world file
	Faults door.Faults  `json:"faults"`
	Timing *door.Timing `json:"timing,omitempty"`
	Link   string       `json:"link,omitempty"`
	Rough  bool         `json:"rough,omitempty"`

	SampleEvery time.Duration `json:"sample_every_ns,omitempty"`
}

// wireError carries an error of the inner to the controller so that callers can
// still tell a refused connection from an unreachable network.
type wireError struct {
	Text    string        `json:"text"`
	Syscall string        `json:"syscall,omitempty"` // "connect"
	Errno   syscall.Errno `json:"errno,omitempty"`
	Timeout bool          `json:"timeout,omitempty"`
}

func (e *wireError) Error() string { return e.Text }

// packError keeps what the other side needs of an error.
func packError(err error) *wireError {
	w := &wireError{Text: err.Error()}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		w.Text = op.Err.Error() // the controller's own OpError says the rest
	}
	var sys *os.SyscallError
	if errors.As(err, &sys) {
		w.Syscall = sys.Syscall
		errors.As(sys.Err, &w.Errno)
	}
	var timeout net.Error
	w.Timeout = errors.As(err, &timeout) && timeout.Timeout()
	return w
}

// unpack undoes packError.
func (e *wireError) unpack() error {
	switch {
	case e.Errno != 0:
		return os.NewSyscallError(e.Syscall, e.Errno)
	case e.Timeout:
		return &timeoutError{e.Text}
	}
	return e
}

// timeoutError is a deadline that passed inside the lab.
type timeoutError struct{ text string }

func (e *timeoutError) Error() string   { return e.text }
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Temporary() bool { return true }
func (e *timeoutError) Unwrap() error   { return context.DeadlineExceeded }
