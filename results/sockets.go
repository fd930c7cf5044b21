package results

import (
	"errors"
	"fmt"

	"github.com/antipode-bench/antipode/probe/wire"
)

// FlagBidirectional marks a pair whose both directions were measured at the same
// time: their data and acknowledgements shared the machines and the path.
const FlagBidirectional = "bidirectional"

// FlagConcurrent marks a pair whose machines took part in other throughput tests
// at the same time: its goodput is what was left of theirs.
const FlagConcurrent = "concurrent"

// checkSockets holds the cells about the throughput test's sockets to what
// kernels can do.
func checkSockets(r *Row) (errs []error) {
	switch r.NoDelay {
	case "", "true", "false":
	default:
		errs = append(errs, fmt.Errorf("column no_delay: %q is not true or false", r.NoDelay))
	}
	if r.DSCP != nil && *r.DSCP > wire.MaxDSCP {
		errs = append(errs, fmt.Errorf("column dscp: %d is outside 0 to %d", *r.DSCP, wire.MaxDSCP))
	}
	if r.ClientPort != nil && (*r.ClientPort < 1 || *r.ClientPort > 65535) {
		errs = append(errs, fmt.Errorf("column client_port: %d is outside 1 to 65535", *r.ClientPort))
	}
	if r.Repetition != nil && *r.Repetition == 0 {
		errs = append(errs, errors.New("column repetition: the first is 1"))
	}
	if r.PacingBps != nil && *r.PacingBps == 0 {
		errs = append(errs, errors.New("column pacing_bps: nothing could have been sent"))
	}
	if r.RateBps != nil && *r.RateBps == 0 {
		errs = append(errs, errors.New("column rate_bps: nothing could have been sent"))
	}
	return errs
}
