package results

import (
	"errors"
	"fmt"
)

// FlagUDPFailed marks a pair whose UDP throughput test brought nothing, though
// its other tests did: the journal says why.
const FlagUDPFailed = "udp-failed"

// maxUDPBytes is the longest payload of a datagram.
const maxUDPBytes = 65507

// checkUDP holds the cells of UDP throughput, which are all there or none,
// against each other.
func checkUDP(r *Row, cells []number) (errs []error) {
	if r.UDPOffload == "" && !anyUDP(cells) {
		return nil // as of most rows
	}
	var filled, empty []string
	for _, n := range cells {
		switch {
		case !n.udp:
		case n.filled():
			filled = append(filled, n.column)
		default:
			empty = append(empty, n.column)
		}
	}
	switch r.UDPOffload {
	case "":
		empty = append(empty, "udp_offload")
	case "true", "false":
		filled = append(filled, "udp_offload")
	default:
		errs = append(errs, fmt.Errorf("column udp_offload: %q is not true or false", r.UDPOffload))
	}
	switch {
	case len(filled) == 0:
		return errs
	case len(empty) > 0:
		return append(errs, fmt.Errorf("column %s: empty beside %s", empty[0], filled[0]))
	case r.HasFlag(FlagUDPFailed):
		errs = append(errs, fmt.Errorf("column flags: %s with figures", FlagUDPFailed))
	}
	return append(errs, checkDatagrams(r)...)
}

func anyUDP(cells []number) bool {
	for i := range cells {
		if cells[i].udp && cells[i].filled() {
			return true
		}
	}
	return false
}

// checkDatagrams needs every cell filled.
func checkDatagrams(r *Row) (errs []error) {
	const slack = 1 + 1e-6 // roundings
	if bytes := *r.UDPDatagramBytes; bytes < 1 || bytes > maxUDPBytes {
		errs = append(errs, fmt.Errorf("column udp_datagram_bytes: %d is outside 1 to %d", bytes, maxUDPBytes))
	}
	if *r.UDPGoodputBps > *r.UDPPacketsPerS*8*float64(*r.UDPDatagramBytes)*slack+1 {
		errs = append(errs, errors.New("column udp_goodput_bps: more than its datagrams hold"))
	}
	return errs
}
