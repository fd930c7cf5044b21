//go:build linux

package host

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The structures are those of the kernel's include/uapi/linux/ethtool.h. None of
// the four commands needs a privilege.
const (
	statSet      = 1       // ETH_SS_STATS
	nameBytes    = 32      // ETH_GSTRING_LEN
	maxCounts    = 1 << 14 // of one card; the largest have some thousands
	slackCounts  = 1 << 10 // for counts that the card gains between two questions
	setInfoBytes = 20      // cmd, reserved, mask (64 bits), length of the one set
	namesHead    = 12      // cmd, set, length
	countsHead   = 8       // cmd, length
)

// readDriver is the name of an interface's driver, such as "ena"; empty if it
// has none or does not say.
func readDriver(device string) string {
	var driver string
	withSocket(device, func(fd int) error {
		info, err := unix.IoctlGetEthtoolDrvinfo(fd, device)
		if err == nil {
			driver = unix.ByteSliceToString(info.Driver[:])
		}
		return err
	})
	return driver
}

// readCounters are the counts of an interface's card by the driver's names; nil
// if it has none or does not say.
func readCounters(device string) (counts map[string]uint64) {
	withSocket(device, func(fd int) (err error) {
		counts, err = counters(fd, device)
		return err
	})
	return counts
}

// withSocket gives f a descriptor to ask the kernel about interfaces through.
// Errors are what interfaces without a driver answer.
func withSocket(device string, f func(fd int) error) {
	if device == "" {
		return
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	f(fd)
}

func counters(fd int, device string) (map[string]uint64, error) {
	n, err := countersOf(fd, device)
	if err != nil {
		return nil, err
	}
	names := newMessage(namesHead+(n+slackCounts)*nameBytes, unix.ETHTOOL_GSTRINGS, statSet, uint32(n))
	if err := ask(fd, device, names); err != nil {
		return nil, err
	}
	counts := newMessage(countsHead+(n+slackCounts)*8, unix.ETHTOOL_GSTATS, uint32(n))
	if err := ask(fd, device, counts); err != nil {
		return nil, err
	}
	return parseCounters(names, counts)
}

// countersOf is how many counts the card has.
func countersOf(fd int, device string) (int, error) {
	info := newMessage(setInfoBytes, unix.ETHTOOL_GSSET_INFO)
	binary.NativeEndian.PutUint64(info[8:], 1<<statSet)
	if err := ask(fd, device, info); err != nil {
		return 0, err
	}
	n := binary.NativeEndian.Uint32(info[16:])
	if binary.NativeEndian.Uint64(info[8:]) == 0 || n == 0 || n > maxCounts {
		return 0, fmt.Errorf("%s has %d counts", device, n)
	}
	return int(n), nil
}

// parseCounters joins the answers to GSTRINGS and GSTATS. They must be of the
// same length: a card that gained a count in between has other names by now.
func parseCounters(names, counts []byte) (map[string]uint64, error) {
	if len(names) < namesHead || len(counts) < countsHead {
		return nil, fmt.Errorf("answers of %d and %d bytes", len(names), len(counts))
	}
	n := int(binary.NativeEndian.Uint32(names[8:]))
	got := int(binary.NativeEndian.Uint32(counts[4:]))
	names, counts = names[namesHead:], counts[countsHead:]
	if n != got || n*nameBytes > len(names) || n*8 > len(counts) {
		return nil, fmt.Errorf("%d names for %d counts", n, got)
	}
	all := make(map[string]uint64, n)
	for i := range n {
		name := unix.ByteSliceToString(names[i*nameBytes : (i+1)*nameBytes])
		all[name] = binary.NativeEndian.Uint64(counts[i*8:])
	}
	return all, nil
}

// newMessage is a message of at least n bytes that begins with the words. It is
// aligned for 64 bits.
func newMessage(n int, words ...uint32) []byte {
	aligned := make([]uint64, (n+7)/8)
	message := unsafe.Slice((*byte)(unsafe.Pointer(&aligned[0])), len(aligned)*8)
	for i, w := range words {
		binary.NativeEndian.PutUint32(message[4*i:], w)
	}
	return message
}

// ifreq is struct ifreq with the pointer of ifr_data.
type ifreq struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [24 - unsafe.Sizeof(uintptr(0))]byte
}

// ask sends a message about the interface; the answer overwrites it.
func ask(fd int, device string, message []byte) error {
	req := ifreq{data: unsafe.Pointer(&message[0])}
	if len(device) >= len(req.name) {
		return fmt.Errorf("%q is no interface's name", device)
	}
	copy(req.name[:], device)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&req)))
	if errno != 0 {
		return os.NewSyscallError("ioctl SIOCETHTOOL", errno)
	}
	return nil
}
