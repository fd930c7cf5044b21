package results

import (
	"errors"
	"fmt"

	"github.com/antipode-bench/antipode/probe/wire"
)

// MTUs that IP can have: RFC 791, and the largest packet.
const leastMTU, mostMTU = 68, 65535

func stampsAllowed() []string {
	return []string{"", wire.StampsKernel, wire.StampsArrival, wire.StampsUser}
}

func kindsAllowed() []string {
	return []string{"", wire.AddressPublic, wire.AddressPrivate, wire.AddressNAT, wire.AddressLoopback, wire.AddressLinkLocal}
}

// checkPath holds against each other what is known of round trips and path.
func checkPath(r *Row) (errs []error) {
	if r.RTTUserP50Ms != nil && r.RTTUserP99Ms != nil && *r.RTTUserP50Ms > *r.RTTUserP99Ms {
		errs = append(errs, errors.New("column rtt_user_p99_ms: below the median"))
	}
	if r.RTTLoadedP50Ms != nil && r.RTTLoadedP99Ms != nil && *r.RTTLoadedP50Ms > *r.RTTLoadedP99Ms {
		errs = append(errs, errors.New("column rtt_loaded_p99_ms: below the median"))
	}
	if (r.OneWayDelayMs == nil) != (r.OneWayErrorMs == nil) {
		errs = append(errs, errors.New("column one_way_error_ms: a delay has an error, and nothing else has"))
	}
	if r.PathMTUBytes != nil && (*r.PathMTUBytes < leastMTU || *r.PathMTUBytes > mostMTU) {
		errs = append(errs, fmt.Errorf("column path_mtu_bytes: %d is outside %d to %d", *r.PathMTUBytes, leastMTU, mostMTU))
	}
	gone := orZero(r.RTTLostForward) + orZero(r.RTTLostBackward) + orZero(r.RTTLate)
	if r.RTTProbes != nil && gone > *r.RTTProbes {
		errs = append(errs, fmt.Errorf("column rtt_probes: %d, of which %d were lost or late", *r.RTTProbes, gone))
	}
	return errs
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
