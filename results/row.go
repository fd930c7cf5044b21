package results

// Status says what became of a pair.
const (
	StatusOK      = "ok"
	StatusFailed  = "failed"
	StatusSkipped = "skipped"
)

// Row is one directed pair of one run: a line of results.csv. The order of the
// fields is the order of the columns, a promise to every reader: new columns
// go to the right. Cells nobody measured are nil, and empty in the file.
type Row struct {
	RunID             string   `csv:"run_id"`    // sorts by time
	Timestamp         string   `csv:"timestamp"` // RFC 3339, UTC, start of the pair's first test
	Status            string   `csv:"status"`    // "ok", "failed" or "skipped"
	Error             string   `csv:"error"`     // why the status is not "ok"
	FromCloud         string   `csv:"from_cloud"`
	FromRegion        string   `csv:"from_region"`
	FromZone          string   `csv:"from_zone"`
	FromMachine       string   `csv:"from_machine"` // machine type
	ToCloud           string   `csv:"to_cloud"`
	ToRegion          string   `csv:"to_region"`
	ToZone            string   `csv:"to_zone"`
	ToMachine         string   `csv:"to_machine"` // machine type
	DistanceKm        *float64 `csv:"distance_km,omitempty"`
	Path              string   `csv:"path"`         // "public" or "private"
	IPVersion         string   `csv:"ip_version"`   // "4" or "6"
	NetworkTier       string   `csv:"network_tier"` // GCP: "premium" or "standard"; else empty
	RTTMinMs          *float64 `csv:"rtt_min_ms,omitempty"`
	RTTMeanMs         *float64 `csv:"rtt_mean_ms,omitempty"`
	RTTP50Ms          *float64 `csv:"rtt_p50_ms,omitempty"`
	RTTP99Ms          *float64 `csv:"rtt_p99_ms,omitempty"`
	RTTStddevMs       *float64 `csv:"rtt_stddev_ms,omitempty"`
	RTTLossRatio      *float64 `csv:"rtt_loss_ratio,omitempty"`   // 0 to 1
	RTTProbes         *int64   `csv:"rtt_probes,omitempty"`       // sent
	GoodputBps        *float64 `csv:"goodput_bps,omitempty"`      // bit/s, steady part
	GoodputMeanBps    *float64 `csv:"goodput_mean_bps,omitempty"` // bit/s, whole test
	Bytes             *int64   `csv:"bytes,omitempty"`            // TCP payload received
	DurationS         *float64 `csv:"duration_s,omitempty"`
	Streams           *int64   `csv:"streams,omitempty"`
	CongestionControl string   `csv:"congestion_control"`
	MSSBytes          *int64   `csv:"mss_bytes,omitempty"`
	RetransmitRatio   *float64 `csv:"retransmit_ratio,omitempty"` // 0 to 1
	LimitedBy         string   `csv:"limited_by"`
	Flags             string   `csv:"flags"` // separated by ";": FlagLab, the light flags, the probe's

	// Why the goodput is what it is. docs/limited-by.md says how it is told.
	LimitedByEvidence string   `csv:"limited_by_evidence"`          // the rule that matched and its figures
	WindowCeilingBps  *float64 `csv:"window_ceiling_bps,omitempty"` // bit/s, window / least RTT
	FromCPURatio      *float64 `csv:"from_cpu_ratio,omitempty"`     // 0 to 1, whole machine
	ToCPURatio        *float64 `csv:"to_cpu_ratio,omitempty"`       // 0 to 1, whole machine
	FromStealRatio    *float64 `csv:"from_steal_ratio,omitempty"`   // 0 to 1
	ToStealRatio      *float64 `csv:"to_steal_ratio,omitempty"`     // 0 to 1
	FromSoftnetDrops  *int64   `csv:"from_softnet_drops,omitempty"` // packets
	ToSoftnetDrops    *int64   `csv:"to_softnet_drops,omitempty"`   // packets
	FromNICDriver     string   `csv:"from_nic_driver"`              // such as "ena"
	ToNICDriver       string   `csv:"to_nic_driver"`                // such as "ena"
	NICExceeded       string   `csv:"nic_allowance_exceeded"`       // "from:NAME=N;to:NAME=N"; empty if none

	// UDP throughput, where it was asked for.
	UDPTargetBps     *float64 `csv:"udp_target_bps,omitempty"`    // bit/s of UDP payload asked for; 0: as fast as it goes
	UDPGoodputBps    *float64 `csv:"udp_goodput_bps,omitempty"`   // bit/s of UDP payload received
	UDPPacketsPerS   *float64 `csv:"udp_packets_per_s,omitempty"` // datagrams received
	UDPDatagramBytes *int64   `csv:"udp_datagram_bytes,omitempty"`
	UDPLossRatio     *float64 `csv:"udp_loss_ratio,omitempty"` // 0 to 1
	UDPReordered     *int64   `csv:"udp_reordered,omitempty"`
	UDPDuplicates    *int64   `csv:"udp_duplicates,omitempty"`
	UDPJitterMs      *float64 `csv:"udp_jitter_ms,omitempty"`
	UDPOffload       string   `csv:"udp_offload"` // "true" or "false"

	// Round trips beside those above, and what is known of the path.
	RTTStamps         string   `csv:"rtt_stamps"`                 // whose clocks: "kernel", "arrival" or "user"
	RTTSendingMs      *float64 `csv:"rtt_sending_ms,omitempty"`   // in each RTT: the kernels' sending
	RTTUserP50Ms      *float64 `csv:"rtt_user_p50_ms,omitempty"`  // as the processes saw it
	RTTUserP99Ms      *float64 `csv:"rtt_user_p99_ms,omitempty"`  // as the processes saw it
	RTTICMPP50Ms      *float64 `csv:"rtt_icmp_p50_ms,omitempty"`  // echo
	TCPConnectMs      *float64 `csv:"tcp_connect_ms,omitempty"`   // SYN to SYN-ACK, median
	RTTLostForward    *int64   `csv:"rtt_lost_forward,omitempty"` // queries
	RTTLostBackward   *int64   `csv:"rtt_lost_backward,omitempty"`
	RTTLate           *int64   `csv:"rtt_late,omitempty"`         // answers
	RTTReordered      *int64   `csv:"rtt_reordered,omitempty"`    // queries and answers
	RTTDuplicates     *int64   `csv:"rtt_duplicates,omitempty"`   // queries and answers
	OneWayDelayMs     *float64 `csv:"one_way_delay_ms,omitempty"` // forward, median
	OneWayErrorMs     *float64 `csv:"one_way_error_ms,omitempty"` // the delay is known to this
	RTTLoadedP50Ms    *float64 `csv:"rtt_loaded_p50_ms,omitempty"`
	RTTLoadedP99Ms    *float64 `csv:"rtt_loaded_p99_ms,omitempty"`
	RTTLoadedProbes   *int64   `csv:"rtt_loaded_probes,omitempty"` // while the path was full
	PathMTUBytes      *int64   `csv:"path_mtu_bytes,omitempty"`    // of IP, forward
	FromAddressKind   string   `csv:"from_address_kind"`           // "public", "private", "nat", ...
	ToAddressKind     string   `csv:"to_address_kind"`
	StoppedBy         string   `csv:"stopped_by"`                    // what ended the throughput test: "steady", "duration" or "bytes"
	GoodputErrorRatio *float64 `csv:"goodput_error_ratio,omitempty"` // half the 95 % confidence interval of goodput_bps, over it

	// Two flows after a test of one that a cap limited; in no other figure.
	FlowCheckBytes *int64   `csv:"flow_check_bytes,omitempty"` // sent
	FlowCheckRatio *float64 `csv:"flow_check_ratio,omitempty"` // rate of two over that of one

	// The sockets of the throughput test, as they came to be or were asked for.
	SendBufferBytes    *int64   `csv:"send_buffer_bytes,omitempty"`    // of the sender's, as its kernel counts, at the end
	ReceiveWindowBytes *int64   `csv:"receive_window_bytes,omitempty"` // largest that a stream was offered in the second half
	NoDelay            string   `csv:"no_delay"`                       // "true" or "false"
	DSCP               *int64   `csv:"dscp,omitempty"`                 // 0 to 63, of the data packets
	PacingBps          *float64 `csv:"pacing_bps,omitempty"`           // bit/s, all streams; empty: no limit
	RateBps            *float64 `csv:"rate_bps,omitempty"`             // bit/s that the application offered; empty: no limit
	ClientPort         *int64   `csv:"client_port,omitempty"`          // first local port of the sender; empty: any
	FromTuned          string   `csv:"from_tuned"`                     // "NAME=VALUE;...", the machine's settings that were tuned
	ToTuned            string   `csv:"to_tuned"`                       // "NAME=VALUE;..."

	Repetition *int64 `csv:"repetition,omitempty"` // of the pair in its run, from 1
}
