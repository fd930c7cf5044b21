//go:build linux

package seqpacket

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// MaxPacket is the longest value sent or accepted, in bytes of JSON. The
// kernel's default socket buffer holds it.
const MaxPacket = 128 << 10

// maxFiles is the most files accepted with one packet.
const maxFiles = 4

// Conn is one end. Send is safe for concurrent use; Receive wants one reader.
type Conn struct {
	conn *net.UnixConn
	buf  []byte
	oob  []byte
}

// Pair makes both ends: one to use here and one to hand to a child, which the
// caller closes once the child has it.
func Pair() (*Conn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "control")
	ours, err := FromFile(os.NewFile(uintptr(fds[0]), "control"))
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// FromFile takes over f, which it closes.
func FromFile(f *os.File) (*Conn, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, fmt.Errorf("control socket: is a %s socket", c.LocalAddr().Network())
	}
	return New(u), nil
}

// New wraps a connected "unixpacket" connection.
func New(c *net.UnixConn) *Conn {
	return &Conn{conn: c, buf: make([]byte, MaxPacket), oob: make([]byte, unix.CmsgSpace(4*maxFiles))}
}

// Close ends both directions.
func (c *Conn) Close() error { return c.conn.Close() }

// Send writes v as one packet; files ride along and stay the caller's.
func (c *Conn) Send(v any, files ...*os.File) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("control packet: %w", err)
	}
	if len(data) > MaxPacket {
		return fmt.Errorf("control packet of %d bytes is longer than %d", len(data), MaxPacket)
	}
	return c.sendWith(data, files, nil)
}

// sendWith collects the descriptors while each file is held open.
func (c *Conn) sendWith(data []byte, files []*os.File, fds []int) error {
	if len(files) == 0 {
		var oob []byte
		if len(fds) > 0 {
			oob = unix.UnixRights(fds...)
		}
		_, _, err := c.conn.WriteMsgUnix(data, oob, nil)
		return err
	}
	return WithFD(files[0], func(fd int) error { return c.sendWith(data, files[1:], append(fds, fd)) })
}

// WithFD calls f with the descriptor of file, which stays open meanwhile and,
// unlike with Fd, keeps its mode.
func WithFD(file syscall.Conn, f func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// Receive reads one packet into v and returns the files that came along, which
// are the caller's to close. It returns io.EOF when the other end is gone.
func (c *Conn) Receive(v any) ([]*os.File, error) {
	n, oobn, flags, _, err := c.conn.ReadMsgUnix(c.buf, c.oob)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return nil, io.EOF // reset: it went without reading what we sent
	}
	if err != nil {
		return nil, err
	}
	files, err := parseRights(c.oob[:oobn])
	if err == nil && flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		err = errors.New("control packet is too long")
	}
	if err == nil {
		err = json.Unmarshal(c.buf[:n], v)
	}
	if err != nil {
		CloseAll(files)
		return nil, fmt.Errorf("control packet: %w", err)
	}
	return files, nil
}

func parseRights(oob []byte) ([]*os.File, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue // not descriptors
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files, nil
}

// CloseAll closes files.
func CloseAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
