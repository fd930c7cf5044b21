//go:build linux

package probe

import (
	"errors"
	"os"
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
	socket   *udpSocket
	messages []message
	buffers  [][]byte
	vectors  []unix.Iovec
	controls [][]byte // ancillary data
}

// newBatch has n messages of up to size bytes.
func newBatch(socket *udpSocket, n, size int) *batch {
	b := &batch{socket: socket, messages: make([]message, n), buffers: make([][]byte, n), vectors: make([]unix.Iovec, n), controls: make([][]byte, n)}
	for i := range b.messages {
		b.buffers[i] = make([]byte, size)
		b.vectors[i].Base = &b.buffers[i][0]
		b.vectors[i].SetLen(size)
		h := &b.messages[i].header
		h.Iov = &b.vectors[i]
		h.SetIovlen(1)
	}
	return b
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
// vectors say, and returns how many went: none if for socketTimeout there was no
// room.
func (b *batch) send(n int) (int, error) {
	sent, err := b.call(unix.SYS_SENDMMSG, n, 0)
	return sent, os.NewSyscallError("sendmmsg", err)
}

// receive waits until something is there, at most for socketTimeout, and takes
// what there is. Of a message longer than its buffer the rest is dropped, and
// message.bytes is its whole length.
func (b *batch) receive() (int, error) {
	for i := range b.messages {
		b.messages[i].header.SetControllen(len(b.controls[i]))
	}
	n, err := b.call(unix.SYS_RECVMMSG, len(b.messages), unix.MSG_TRUNC|unix.MSG_WAITFORONE)
	return n, os.NewSyscallError("recvmmsg", err)
}

// call is 0 and nil when the socket's time-out came first.
func (b *batch) call(trap uintptr, n, flags int) (done int, err error) {
	err = onFD(b.socket, func(fd int) error {
		done, err = retry(func() (int, error) {
			done, _, errno := unix.Syscall6(trap, uintptr(fd), uintptr(unsafe.Pointer(&b.messages[0])), uintptr(n), uintptr(flags), 0, 0)
			if errno != 0 {
				return 0, errno
			}
			return int(done), nil
		})
		return err
	})
	if errors.Is(err, unix.EAGAIN) {
		err = nil
	}
	return done, err
}

// received is what message i brought: as much of its data as there was room
// for, its whole length, and its ancillary data.
func (b *batch) received(i int) (data []byte, length int, control []byte) {
	m := &b.messages[i]
	length = int(m.bytes)
	return b.buffers[i][:min(length, len(b.buffers[i]))], length, b.controls[i][:m.header.Controllen]
}
