package machine

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Offloads a TUN device may be told about. USO is newer (Linux 6.2) than TSO.
const (
	offloadTSO = unix.TUN_F_CSUM | unix.TUN_F_TSO4 | unix.TUN_F_TSO6
	offloadUSO = unix.TUN_F_USO4 | unix.TUN_F_USO6
)

// openTUN makes the TUN interface name and returns its descriptor, which does
// not block. Packets carry a virtio-net header of 10 bytes and may be as long
// as 64 KB, unsegmented. The interface lives as long as the descriptor.
func openTUN(name string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("link: open /dev/net/tun: %w", err)
	}
	if err := configureTUN(fd, name); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "tun"), nil
}

func configureTUN(fd int, name string) error {
	req, err := unix.NewIfreq(name)
	if err != nil {
		return fmt.Errorf("link: interface name %q: %w", name, err)
	}
	req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
		return fmt.Errorf("link: make TUN %s: %w", name, err)
	}
	if unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, offloadTSO|offloadUSO) == nil {
		return nil
	}
	if err := unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, offloadTSO); err != nil {
		return fmt.Errorf("link: offloads of TUN %s: %w", name, err)
	}
	return nil
}
