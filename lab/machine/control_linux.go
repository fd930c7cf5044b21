package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// maxBoot is the longest Boot packet in bytes. A Unix socket of default size
// carries 208 KiB.
const maxBoot = 256 << 10

// control is the machine's end of the socket to the hypervisor.
type control struct {
	conn *net.UnixConn
	mu   sync.Mutex // one report at a time
}

func openControl(fd int) (*control, error) {
	f := os.NewFile(uintptr(fd), "control")
	if f == nil {
		return nil, fmt.Errorf("control: descriptor %d is not open", fd)
	}
	defer f.Close() // FileConn keeps a copy of its own
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("control: descriptor %d: %w", fd, err)
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, fmt.Errorf("control: descriptor %d is no Unix socket", fd)
	}
	return &control{conn: conn}, nil
}

// receiveBoot waits for the one Boot. io.EOF: the hypervisor is gone.
func (c *control) receiveBoot() (Boot, error) {
	buf := make([]byte, maxBoot)
	n, _, flags, _, err := c.conn.ReadMsgUnix(buf, nil)
	switch {
	case err != nil:
		return Boot{}, fmt.Errorf("receive boot: %w", err)
	case n == 0:
		return Boot{}, io.EOF
	case flags&unix.MSG_TRUNC != 0:
		return Boot{}, fmt.Errorf("receive boot: more than %d bytes", maxBoot)
	}
	var b Boot
	if err := json.Unmarshal(buf[:n], &b); err != nil {
		return Boot{}, fmt.Errorf("receive boot: %w", err)
	}
	return b, b.validate()
}

// report sends r, and copies of the descriptors with it.
func (c *control) report(r Report, fds ...int) error {
	packet, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, _, err := c.conn.WriteMsgUnix(packet, rights, nil); err != nil {
		return fmt.Errorf("report %s: %w", r.Kind, err)
	}
	return nil
}

// waitHangUp returns when the hypervisor has closed its end or is gone. It
// sends nothing after the Boot; whatever comes is dropped.
func (c *control) waitHangUp() {
	var b [1]byte
	for {
		n, _, _, _, err := c.conn.ReadMsgUnix(b[:], nil)
		if n == 0 || (err != nil && !errors.Is(err, unix.EINTR)) {
			return
		}
	}
}
