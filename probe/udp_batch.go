//go:build linux

package probe

import (
	"errors"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// message is the kernel's struct mmsghdr: one of the messages that sendmmsg and
// recvmmsg take at a time. An array of it looks as the kernel wants it on the
// 64-bit architectures the probe is built for.
type message struct {
	header unix.Msghdr
	bytes  uint32 // sent or received
	_      [4]byte
}

// batch is messages with a buffer each.
type batch struct {
	raw      syscall.RawConn
	messages []message
	buffers  [][]byte
	vectors  []unix.Iovec
	controls [][]byte // ancillary data
}

// newBatch has n messages of up to size bytes.
func newBatch(conn *net.UDPConn, n, size int) (*batch, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	b := &batch{raw: raw, messages: make([]message, n), buffers: make([][]byte, n), vectors: make([]unix.Iovec, n), controls: make([][]byte, n)}
	for i := range b.messages {
		b.buffers[i] = make([]byte, size)
		b.vectors[i].Base = &b.buffers[i][0]
		b.vectors[i].SetLen(size)
		h := &b.messages[i].header
		h.Iov = &b.vectors[i]
		h.SetIovlen(1)
	}
	return b, nil
}

// takeControl makes room for so many bytes of ancillary data to receive.
func (b *batch) takeControl(bytes int) {
	for i := range b.messages {
		b.giveControl(i, make([]byte, bytes))
	}
}

// giveControl gives message i ancillary data to be sent.
func (b *batch) giveControl(i int, data []byte) {
	b.controls[i] = data
	b.messages[i].header.Control = &data[0]
	b.messages[i].header.SetControllen(len(data))
}

// send sends the first n messages, with as many bytes of their buffers as
// vectors say, and returns how many went. It waits for room in the socket, until
// the write deadline.
func (b *batch) send(n int) (sent int, err error) {
	werr := b.raw.Write(func(fd uintptr) bool {
		sent, err = retry(func() (int, error) { return b.call(unix.SYS_SENDMMSG, fd, n, 0) })
		return !errors.Is(err, unix.EAGAIN)
	})
	return sent, errors.Join(werr, os.NewSyscallError("sendmmsg", err))
}

// receive waits until something is there, or the read deadline, and takes what
// there is. Of a message longer than its buffer the rest is dropped, and
// message.bytes is its whole length.
func (b *batch) receive() (n int, err error) {
	rerr := b.raw.Read(func(fd uintptr) bool {
		for i := range b.messages {
			b.messages[i].header.SetControllen(len(b.controls[i]))
		}
		n, err = retry(func() (int, error) { return b.call(unix.SYS_RECVMMSG, fd, len(b.messages), unix.MSG_TRUNC) })
		return !errors.Is(err, unix.EAGAIN)
	})
	return n, errors.Join(rerr, os.NewSyscallError("recvmmsg", err))
}

func (b *batch) call(trap, fd uintptr, n, flags int) (int, error) {
	done, _, errno := unix.Syscall6(trap, fd, uintptr(unsafe.Pointer(&b.messages[0])), uintptr(n), uintptr(flags), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(done), nil
}

// received is what message i brought: as much of its data as there was room
// for, its whole length, and its ancillary data.
func (b *batch) received(i int) (data []byte, length int, control []byte) {
	m := &b.messages[i]
	length = int(m.bytes)
	return b.buffers[i][:min(length, len(b.buffers[i]))], length, b.controls[i][:m.header.Controllen]
}
