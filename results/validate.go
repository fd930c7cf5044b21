package results

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	runIDForm    = form(isRunID)
	nameForm     = form(isNameText)                                 // region, zone, machine type, ...
	wordsForm    = regexp.MustCompile(`^[a-z0-9-]+(;[a-z0-9-]+)*$`) // flags
	lineForm     = regexp.MustCompile(`^[A-Za-z0-9][ -~]{0,499}$`)  // text that we write ourselves
	settingsForm = regexp.MustCompile(`^[a-z0-9_.-]+=[a-z0-9_,.-]+(;[a-z0-9_.-]+=[a-z0-9_,.-]+)*$`)
	countersForm = regexp.MustCompile(`^(from|to):[a-z0-9_]+=[0-9]+(;(from|to):[a-z0-9_]+=[0-9]+)*$`)
)

// IsName reports whether s can stand in a column of names, such as a zone, a
// machine type or a congestion control.
func IsName(s string) bool { return nameForm.MatchString(s) }

// Validate says everything that is wrong with a row, naming the columns: a
// missing name, a value outside its range or enumeration, NaN or infinity, a
// pair that is not ok but has figures or no reason, one that is ok but lacks its
// median RTT or its goodput.
// The error is one line.
func Validate(r Row) error { return validate(&r, numbers(&r)) }

// validate takes the row's numbers beside it, which a reader of many rows has.
func validate(r *Row, cells []number) error {
	var texts []string
	for _, err := range slices.Concat(checkNames(r), checkStatus(r, cells), checkNumbers(r, cells), checkUDP(r, cells), checkSockets(r)) {
		texts = append(texts, err.Error())
	}
	if len(texts) == 0 {
		return nil
	}
	return errors.New(strings.Join(texts, "; "))
}

func checkNames(r *Row) (errs []error) {
	must := func(column, value string, form shape) {
		if !form.MatchString(value) {
			errs = append(errs, fmt.Errorf("column %s: bad value %q", column, value))
		}
	}
	may := func(column, value string, form shape) {
		if value != "" {
			must(column, value, form)
		}
	}
	must("run_id", r.RunID, runIDForm)
	if at, err := time.Parse(time.RFC3339, r.Timestamp); err != nil || !strings.HasSuffix(r.Timestamp, "Z") || at.IsZero() {
		errs = append(errs, fmt.Errorf("column timestamp: %q is not RFC 3339 in UTC", r.Timestamp))
	}
	must("from_cloud", r.FromCloud, nameForm)
	must("from_region", r.FromRegion, nameForm)
	may("from_zone", r.FromZone, nameForm)
	may("from_machine", r.FromMachine, nameForm)
	must("to_cloud", r.ToCloud, nameForm)
	must("to_region", r.ToRegion, nameForm)
	may("to_zone", r.ToZone, nameForm)
	may("to_machine", r.ToMachine, nameForm)
	may("congestion_control", r.CongestionControl, nameForm)
	may("limited_by", r.LimitedBy, wordsForm)
	may("flags", r.Flags, wordsForm)
	may("limited_by_evidence", r.LimitedByEvidence, lineForm)
	may("from_nic_driver", r.FromNICDriver, nameForm)
	may("to_nic_driver", r.ToNICDriver, nameForm)
	may("nic_allowance_exceeded", r.NICExceeded, countersForm)
	may("from_tuned", r.FromTuned, settingsForm)
	may("to_tuned", r.ToTuned, settingsForm)
	may("stopped_by", r.StoppedBy, nameForm)
	return errs
}

func checkStatus(r *Row, cells []number) (errs []error) {
	enum := func(column, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			errs = append(errs, fmt.Errorf("column %s: %q is not one of %q", column, value, allowed))
		}
	}
	enum("status", r.Status, StatusOK, StatusFailed, StatusSkipped)
	enum("path", r.Path, "", "public", "private")
	enum("ip_version", r.IPVersion, "", "4", "6")
	enum("network_tier", r.NetworkTier, "", "premium", "standard")
	enum("rtt_stamps", r.RTTStamps, stampsAllowed()...)
	enum("from_address_kind", r.FromAddressKind, kindsAllowed()...)
	enum("to_address_kind", r.ToAddressKind, kindsAllowed()...)

	ok := r.Status == StatusOK
	switch {
	case ok && r.Error != "":
		errs = append(errs, errors.New("column error: must be empty when the status is ok"))
	case ok && r.RTTP50Ms == nil:
		errs = append(errs, errors.New("column rtt_p50_ms: empty when the status is ok"))
	case ok && r.GoodputBps == nil:
		errs = append(errs, errors.New("column goodput_bps: empty when the status is ok"))
	case !ok && r.Error == "":
		errs = append(errs, fmt.Errorf("column error: must say why the status is %q", r.Status))
	case !ok && !unmeasured(r, cells):
		errs = append(errs, fmt.Errorf("column status: %q with measurements", r.Status))
	}
	return errs
}

// unmeasured is true when no measurement cell is filled. The distance is known
// without measuring.
func unmeasured(r *Row, cells []number) bool {
	for i := range cells {
		n := &cells[i]
		if n.column != "distance_km" && n.column != "repetition" && n.filled() {
			return false
		}
	}
	texts := r.CongestionControl + r.UDPOffload + r.LimitedByEvidence + r.RTTStamps + r.FromAddressKind + r.ToAddressKind + r.NoDelay + r.FromTuned + r.ToTuned
	return texts == ""
}

func checkNumbers(r *Row, cells []number) (errs []error) {
	for i := range cells {
		n := &cells[i]
		switch {
		case n.float != nil && *n.float != nil && !(**n.float >= 0 && **n.float <= n.max):
			errs = append(errs, fmt.Errorf("column %s: %v is outside 0 to %v", n.column, **n.float, n.max))
		case n.int != nil && *n.int != nil && **n.int < 0:
			errs = append(errs, fmt.Errorf("column %s: %d is negative", n.column, **n.int))
		}
	}
	return slices.Concat(errs, checkOrder(r), checkPath(r))
}

// checkOrder holds the percentiles against each other.
func checkOrder(r *Row) (errs []error) {
	const slack = 0.0011 // ms, two roundings to 1 us
	above := func(low, high *float64) bool { return low != nil && high != nil && *low > *high+slack }
	if above(r.RTTMinMs, r.RTTP50Ms) || above(r.RTTMinMs, r.RTTMeanMs) {
		errs = append(errs, errors.New("column rtt_min_ms: above the median or the mean"))
	}
	if above(r.RTTP50Ms, r.RTTP99Ms) {
		errs = append(errs, errors.New("column rtt_p99_ms: below the median"))
	}
	return errs
}

// number is one numeric cell: where it lives in a row and what it may hold.
type number struct {
	column   string
	float    **float64 // or
	int      **int64
	max      float64 // of float
	decimals int     // of float, kept in the file
	udp      bool    // of the test with datagrams
}

func (n *number) filled() bool {
	return n.float != nil && *n.float != nil || n.int != nil && *n.int != nil
}

// numbers gives the numeric cells of r in the order of the columns. RTTs are
// kept to 1 us, distances to 1 m, rates to 1 bit/s.
func numbers(r *Row) []number {
	const ratio = 1.0
	anything := math.MaxFloat64
	float := func(column string, p **float64, most float64, decimals int) number {
		return number{column: column, float: p, max: most, decimals: decimals, udp: strings.HasPrefix(column, "udp_")}
	}
	whole := func(column string, p **int64) number {
		return number{column: column, int: p, udp: strings.HasPrefix(column, "udp_")}
	}
	return []number{
		float("distance_km", &r.DistanceKm, anything, 3),
		float("rtt_min_ms", &r.RTTMinMs, anything, 3),
		float("rtt_mean_ms", &r.RTTMeanMs, anything, 3),
		float("rtt_p50_ms", &r.RTTP50Ms, anything, 3),
		float("rtt_p99_ms", &r.RTTP99Ms, anything, 3),
		float("rtt_stddev_ms", &r.RTTStddevMs, anything, 3),
		float("rtt_loss_ratio", &r.RTTLossRatio, ratio, 9),
		whole("rtt_probes", &r.RTTProbes),
		float("goodput_bps", &r.GoodputBps, anything, 0),
		float("goodput_mean_bps", &r.GoodputMeanBps, anything, 0),
		whole("bytes", &r.Bytes),
		float("duration_s", &r.DurationS, anything, 6),
		whole("streams", &r.Streams),
		whole("mss_bytes", &r.MSSBytes),
		float("retransmit_ratio", &r.RetransmitRatio, ratio, 9),
		float("window_ceiling_bps", &r.WindowCeilingBps, anything, 0),
		float("from_cpu_ratio", &r.FromCPURatio, ratio, 4),
		float("to_cpu_ratio", &r.ToCPURatio, ratio, 4),
		float("from_steal_ratio", &r.FromStealRatio, ratio, 4),
		float("to_steal_ratio", &r.ToStealRatio, ratio, 4),
		whole("from_softnet_drops", &r.FromSoftnetDrops),
		whole("to_softnet_drops", &r.ToSoftnetDrops),
		float("udp_target_bps", &r.UDPTargetBps, anything, 0),
		float("udp_goodput_bps", &r.UDPGoodputBps, anything, 0),
		float("udp_packets_per_s", &r.UDPPacketsPerS, anything, 3),
		whole("udp_datagram_bytes", &r.UDPDatagramBytes),
		float("udp_loss_ratio", &r.UDPLossRatio, ratio, 9),
		whole("udp_reordered", &r.UDPReordered),
		whole("udp_duplicates", &r.UDPDuplicates),
		float("udp_jitter_ms", &r.UDPJitterMs, anything, 6),
		float("rtt_sending_ms", &r.RTTSendingMs, anything, 4),
		float("rtt_user_p50_ms", &r.RTTUserP50Ms, anything, 3),
		float("rtt_user_p99_ms", &r.RTTUserP99Ms, anything, 3),
		float("rtt_icmp_p50_ms", &r.RTTICMPP50Ms, anything, 3),
		float("tcp_connect_ms", &r.TCPConnectMs, anything, 3),
		whole("rtt_lost_forward", &r.RTTLostForward),
		whole("rtt_lost_backward", &r.RTTLostBackward),
		whole("rtt_late", &r.RTTLate),
		whole("rtt_reordered", &r.RTTReordered),
		whole("rtt_duplicates", &r.RTTDuplicates),
		float("one_way_delay_ms", &r.OneWayDelayMs, anything, 3),
		float("one_way_error_ms", &r.OneWayErrorMs, anything, 3),
		float("rtt_loaded_p50_ms", &r.RTTLoadedP50Ms, anything, 3),
		float("rtt_loaded_p99_ms", &r.RTTLoadedP99Ms, anything, 3),
		whole("rtt_loaded_probes", &r.RTTLoadedProbes),
		whole("path_mtu_bytes", &r.PathMTUBytes),
		float("goodput_error_ratio", &r.GoodputErrorRatio, anything, 6),
		whole("flow_check_bytes", &r.FlowCheckBytes),
		float("flow_check_ratio", &r.FlowCheckRatio, anything, 3),
		whole("send_buffer_bytes", &r.SendBufferBytes),
		whole("receive_window_bytes", &r.ReceiveWindowBytes),
		whole("dscp", &r.DSCP),
		float("pacing_bps", &r.PacingBps, anything, 0),
		float("rate_bps", &r.RateBps, anything, 0),
		whole("client_port", &r.ClientPort),
		whole("repetition", &r.Repetition),
	}
}
