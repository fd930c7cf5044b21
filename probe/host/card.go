//go:build linux

package host

import (
	"math"
	"net"
	"net/netip"
	"strings"
)

// deviceOf is the interface that has the address; empty if none has.
func deviceOf(local netip.Addr) string {
	devices, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, d := range devices {
		addrs, err := d.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap() == local.Unmap().WithZone("") {
				return d.Name
			}
		}
	}
	return ""
}

// Amazon's ENA driver counts what the instance's allowances held back, under
// these names (bw_in, bw_out, pps, conntrack, linklocal, and the suffix), and
// how many connections may still be tracked. Source: "Monitor network
// performance for ENA settings on your EC2 instance", Amazon EC2 User Guide.
const (
	exceededSuffix     = "_allowance_exceeded"
	conntrackAvailName = "conntrack_allowance_available"
)

// exceeded are the allowances that were used up between two readings, by name,
// and how often. A driver that was loaded anew in between counts from 0 again:
// what is less than before is left out.
func exceeded(before, after map[string]uint64) map[string]int64 {
	var found map[string]int64
	for name, n := range after {
		was, known := before[name]
		if !strings.HasSuffix(name, exceededSuffix) || !known || n <= was || n-was > math.MaxInt64 {
			continue
		}
		if found == nil {
			found = map[string]int64{}
		}
		found[name] = int64(n - was)
	}
	return found
}

func conntrackAvailable(card map[string]uint64) *int64 {
	n, known := card[conntrackAvailName]
	if !known || n > math.MaxInt64 {
		return nil
	}
	available := int64(n)
	return &available
}
