//go:build linux

package link

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/lab/router/packet"
)

const (
	tunDevice   = "/dev/net/tun"
	tunFlags    = unix.IFF_TUN | unix.IFF_NO_PI | unix.IFF_VNET_HDR
	tunOffloads = unix.TUN_F_CSUM | unix.TUN_F_TSO4 | unix.TUN_F_TSO6 | unix.TUN_F_TSO_ECN
	usoOffloads = unix.TUN_F_USO4 | unix.TUN_F_USO6 // Linux 6.2 and later
)

// OpenTUN makes a TUN device called name in the caller's network namespace. It
// has no address and is down. The error wraps fs.ErrPermission or
// fs.ErrNotExist where the place does not allow TUN devices.
func OpenTUN(name string) (*Link, error) {
	fd, err := openRetry(tunDevice)
	if err != nil {
		return nil, fmt.Errorf("make tun device %s: %w", name, &os.PathError{Op: "open", Path: tunDevice, Err: err})
	}
	if err := setInterface(fd, name); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("make tun device %s: %w", name, err)
	}
	return FromFD(fd)
}

func openRetry(path string) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func setInterface(fd int, name string) error {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	request.SetUint16(tunFlags)
	return unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
}

// FromFD is the link of a TUN device made with the flags IFF_NO_PI and
// IFF_VNET_HDR, perhaps by another process in another network namespace. It
// takes the descriptor, also when it fails.
func FromFD(fd int) (*Link, error) {
	if err := prepareTUN(fd); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("prepare tun device: %w", err)
	}
	return &Link{kind: TUN, fd: fd}, nil
}

func prepareTUN(fd int) error {
	request, err := unix.NewIfreq("")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.TUNGETIFF, request); err != nil {
		return fmt.Errorf("not a tun device: %w", err)
	}
	if got := request.Uint16(); got&tunFlags != tunFlags {
		return fmt.Errorf("flags %#x lack some of %#x", got, tunFlags)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TUNSETVNETHDRSZ, packet.OffloadLen); err != nil {
		return fmt.Errorf("set the size of the virtio-net header: %w", err)
	}
	if unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, tunOffloads|usoOffloads) != nil {
		if err := unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, tunOffloads); err != nil {
			return fmt.Errorf("switch offloads on: %w", err)
		}
	}
	return unix.SetNonblock(fd, true)
}
