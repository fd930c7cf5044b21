//go:build linux

package probe

import (
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// feedBytes is what one write hands to a socket: larger ones gain nothing,
	// smaller ones cost CPU time.
	feedBytes = 256 << 10
	// minFeedBytes is the least pipe worth splicing from.
	minFeedBytes = 64 << 10
)

// source is where the bytes of a throughput test come from: a pipe that stays
// full. Tee and splice move references to its pages to the sockets, and no
// byte is ever copied. Where pipes are short, the bytes are written.
type source struct {
	full pipe   // invalid: write bytes
	data []byte // what the pipe is full of; incompressible
}

// pipe is a pair of descriptors; the zero value is no pipe.
type pipe struct{ r, w, size int }

// newSource has a pipe if it is wanted and there is one.
func newSource(splice bool) *source {
	s := &source{data: filler()}
	if !splice {
		return s
	}
	full, err := newPipe(feedBytes)
	if err != nil {
		return s
	}
	if n, err := unix.Write(full.w, s.data[:full.size]); err != nil || n < full.size {
		full.close()
		return s
	}
	s.full = full
	return s
}

// filler is made once: what it holds doesn't matter, but nothing on the path
// must be able to make it smaller.
var filler = sync.OnceValue(func() []byte {
	data := make([]byte, feedBytes)
	rand.NewChaCha8([32]byte{1}).Read(data)
	return data
})

func (s *source) close() { s.full.close() }

// newPipe returns a pipe of at least minFeedBytes, at most size.
func newPipe(size int) (pipe, error) {
	var fd [2]int
	if err := unix.Pipe2(fd[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return pipe{}, os.NewSyscallError("pipe2", err)
	}
	unix.FcntlInt(uintptr(fd[1]), unix.F_SETPIPE_SZ, size) // what it is now counts
	got, err := unix.FcntlInt(uintptr(fd[1]), unix.F_GETPIPE_SZ, 0)
	p := pipe{r: fd[0], w: fd[1], size: min(got, size)}
	if err != nil || p.size < minFeedBytes {
		p.close()
		return pipe{}, errors.New("the user's pipes are used up")
	}
	return p, nil
}

func (p pipe) close() {
	if p.size > 0 {
		unix.Close(p.r)
		unix.Close(p.w)
	}
}

// feed is one stream's way to the source. It is not safe for concurrent use.
type feed struct {
	source *source
	pipe   pipe
	queued int // bytes in the pipe
}

func (s *source) feed() *feed {
	f := &feed{source: s}
	if s.full.size > 0 {
		f.pipe, _ = newPipe(s.full.size) // without one, bytes are written
	}
	return f
}

func (f *feed) close() { f.pipe.close() }

// send sends n bytes, at most feedBytes. It keeps to the write deadline of
// conn: every wait is the runtime's.
func (f *feed) send(conn *net.TCPConn, n int) error {
	if f.pipe.size == 0 {
		_, err := conn.Write(f.source.data[:n])
		return err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	for n > 0 {
		sent, err := f.splice(raw, n)
		if err != nil {
			return err
		}
		n -= sent
	}
	return nil
}

// splice moves up to n bytes to the socket, waiting until it takes some.
func (f *feed) splice(raw syscall.RawConn, n int) (sent int, err error) {
	if f.queued == 0 {
		if err := f.fill(); err != nil {
			return 0, err
		}
	}
	n = min(n, f.queued)
	werr := raw.Write(func(fd uintptr) bool {
		sent, err = retry(func() (int, error) {
			moved, err := unix.Splice(f.pipe.r, nil, int(fd), nil, n, unix.SPLICE_F_NONBLOCK|unix.SPLICE_F_MORE)
			return int(moved), err
		})
		return !errors.Is(err, unix.EAGAIN)
	})
	if err = errors.Join(werr, os.NewSyscallError("splice", err)); werr != nil || err != nil {
		return 0, err
	}
	f.queued -= sent
	return sent, nil
}

func (f *feed) fill() error {
	n, err := retry(func() (int, error) {
		n, err := unix.Tee(f.source.full.r, f.pipe.w, f.pipe.size, unix.SPLICE_F_NONBLOCK)
		return int(n), err
	})
	if err != nil {
		return os.NewSyscallError("tee", err)
	}
	f.queued = n
	return nil
}

// retry goes on when a signal interrupts, which the Go runtime's own do.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
