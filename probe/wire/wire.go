package wire

import (
	"time"

	"github.com/antipode-bench/antipode/probe/trace"
)

// Version of the messages. An agent of another version is an error.
const Version = 2

// MaxLine is the longest message accepted, in bytes.
const MaxLine = 1 << 20

// DefaultLinger is how long an agent that hears nothing from its controller goes
// on: long enough for a network that comes back. A controller that is there says
// Alive every AliveInterval.
const (
	DefaultLinger = 2 * time.Minute
	AliveInterval = 15 * time.Second
)

// DefaultPort is where agents listen for each other, TCP and UDP.
const DefaultPort = 8462

// Hello is the agent's first line.
type Hello struct {
	Version           int    `json:"version"`
	Build             string `json:"build"`              // the probe's version
	OS                string `json:"os"`                 // uname -s
	Arch              string `json:"arch"`               // uname -m
	Kernel            string `json:"kernel"`             // uname -r
	CPUs              int    `json:"cpus"`               // usable by the agent
	CongestionControl string `json:"congestion_control"` // the machine's default; empty if it can't be asked
}

// Request asks one thing; exactly one pointer is set.
type Request struct {
	ID         uint64      `json:"id"`
	Serve      *Serve      `json:"serve,omitempty"`
	RTT        *RTT        `json:"rtt,omitempty"`
	Throughput *Throughput `json:"throughput,omitempty"`
	UDP        *UDP        `json:"udp,omitempty"`
	Cancel     *Cancel     `json:"cancel,omitempty"` // answered at once; the cancelled request is answered too, with an error
	Alive      *Alive      `json:"alive,omitempty"`  // answered at once
}

// Response answers the request of the same ID. Error is empty on success;
// a result cut short carries both what it has and the Error. A line that is no
// Request is answered with its ID, 0 if it has none.
type Response struct {
	ID         uint64            `json:"id"`
	Error      string            `json:"error,omitempty"`
	Serve      *ServeResult      `json:"serve,omitempty"`
	RTT        *RTTResult        `json:"rtt,omitempty"`
	Throughput *ThroughputResult `json:"throughput,omitempty"`
	Loaded     *RTTResult        `json:"loaded,omitempty"` // beside Throughput, if it was asked for and came about
	UDP        *UDPResult        `json:"udp,omitempty"`
}

// Serve makes the agent listen on Port, TCP and UDP, for peers that prove
// Secret, and use Secret towards others. It comes once, before any test.
type Serve struct {
	Secret []byte `json:"secret"` // 32 random bytes of the run
	Port   int    `json:"port"`   // 0 chooses one
}

// ServeResult says where the agent listens.
type ServeResult struct {
	Port int `json:"port"`
}

// Peer is where another agent listens.
type Peer struct {
	Addr string `json:"addr"` // IP address
	Port int    `json:"port"`
}

// RTT measures the round trip from the asked agent to Peer over UDP.
type RTT struct {
	Peer       Peer    `json:"peer"`
	Probes     int     `json:"probes"`         // 1 to 100,000
	IntervalMs float64 `json:"interval_ms"`    // between probes, 0.1 or more
	WaitMs     float64 `json:"wait_ms"`        // for an answer; a later one counts as lost
	DeadlineMs float64 `json:"deadline_ms"`    // for everything, hard; at most an hour
	Path       bool    `json:"path,omitempty"` // find the PathFacts too
}

// Whose clocks the times of an RTTResult are from.
const (
	// StampsKernel: the kernels' stamps of departure and arrival on both
	// machines.
	StampsKernel = "kernel"
	// StampsArrival: the kernels' stamps of arrival only.
	StampsArrival = "arrival"
	// StampsUser: no stamps; the times are those of user space.
	StampsUser = "user"
)

// RTTResult counts only answers to probes of this test, each once. The times
// are from the sending of a packet to the kernel's stamp of its arrival, there
// and back, as ping measures them: without what either process needed to take
// notice and to answer. With nothing received the times are 0 and the Response carries an Error.
type RTTResult struct {
	Probes    int     `json:"probes"`   // sent
	Received  int     `json:"received"` // answered in time
	MinMs     float64 `json:"min_ms"`
	MeanMs    float64 `json:"mean_ms"`
	P50Ms     float64 `json:"p50_ms"`
	P99Ms     float64 `json:"p99_ms"`
	StddevMs  float64 `json:"stddev_ms"`
	LossRatio float64 `json:"loss_ratio"` // 0 to 1, of probes not answered in time
	Stamps    string  `json:"stamps"`     // StampsKernel and so on: the times above
	SendingMs float64 `json:"sending_ms"` // StampsKernel: in each of them, what both kernels need to send
	UserP50Ms float64 `json:"user_p50_ms"`
	UserP99Ms float64 `json:"user_p99_ms"` // user space to user space, nothing taken off

	Counts *RTTCounts `json:"counts,omitempty"`  // nil if the responder did not tell its part
	OneWay *OneWay    `json:"one_way,omitempty"` // nil without StampsKernel
	Path   *PathFacts `json:"path,omitempty"`    // nil unless asked for
}

// RTTCounts says what became of packets that were not simply answered. Probes
// that were not answered in time are LostForward, LostBackward or Late.
type RTTCounts struct {
	LostForward  int `json:"lost_forward"`  // queries that did not reach the responder
	LostBackward int `json:"lost_backward"` // answers that did not come back
	Late         int `json:"late"`          // answers that came after the wait
	Reordered    int `json:"reordered"`     // queries and answers, by RFC 4737
	Duplicates   int `json:"duplicates"`    // queries and answers that came again
}

// OneWay is the median delay towards Peer. The truth is within ErrorMs of it.
type OneWay struct {
	DelayMs float64 `json:"delay_ms"`
	ErrorMs float64 `json:"error_ms"`
}

// PathFacts are what else is found out of a path. Zero and empty: unknown.
type PathFacts struct {
	TCPConnectMs    float64 `json:"tcp_connect_ms,omitempty"` // median, SYN to SYN-ACK by the kernel
	ICMPP50Ms       float64 `json:"icmp_p50_ms,omitempty"`    // echo; 0 where it is not allowed
	MTUBytes        int     `json:"mtu_bytes,omitempty"`      // largest IP packet towards Peer
	FromAddressKind string  `json:"from_address_kind,omitempty"`
	ToAddressKind   string  `json:"to_address_kind,omitempty"`
}

// Kinds of address.
const (
	AddressPublic    = "public"
	AddressPrivate   = "private"    // RFC 1918, RFC 4193 or RFC 6598
	AddressNAT       = "nat"        // not the one that the machine itself has
	AddressLoopback  = "loopback"   // of the machine itself
	AddressLinkLocal = "link-local" // RFC 3927 or RFC 4291
)

// Throughput sends from the asked agent to Peer over TCP. It ends after Bytes
// or DurationMs, whichever is set (both: whichever comes first), and before
// that as soon as the steady rate is known within ErrorRatio, if that is set.
type Throughput struct {
	Peer              Peer    `json:"peer"`
	Bytes             int64   `json:"bytes,omitempty"`
	DurationMs        float64 `json:"duration_ms,omitempty"`
	ErrorRatio        float64 `json:"error_ratio,omitempty"`        // 0.005 to 0.5; 0: Bytes or DurationMs are used up
	Streams           int     `json:"streams"`                      // parallel connections, 1 to 128
	DeadlineMs        float64 `json:"deadline_ms"`                  // for everything, hard; at most an hour
	CongestionControl string  `json:"congestion_control,omitempty"` // empty: the machine's default
	SampleMs          float64 `json:"sample_ms,omitempty"`          // between the samples in the result; 0: none are wanted

	// LoadedIntervalMs has the round trip measured beside the test, with a small
	// probe each so many ms, 1 or more; 0: no.
	LoadedIntervalMs float64 `json:"loaded_interval_ms,omitempty"`

	// BaselineBps is what the two machines get in the long run, the lesser of
	// both, if their type may burst beyond: bit/s of IP packets. A goodput above
	// it has trace.FlagBurst. 0: no burst, or none that is known.
	BaselineBps float64 `json:"baseline_bps,omitempty"`

	Reverse bool `json:"reverse,omitempty"` // Peer sends, the asked agent receives

	Options TCPOptions `json:"options,omitzero"`

	// FlowCheck tells a cap of each flow from one of the path: a test of one
	// stream that turns out to be limited by a cap is followed by a moment of two.
	FlowCheck bool `json:"flow_check,omitempty"`
}

// What ended a throughput test.
const (
	StoppedSteady   = "steady"   // the steady rate is known
	StoppedDuration = "duration" // the time is up
	StoppedBytes    = "bytes"    // the bytes are used up
)

// ThroughputResult is what the receiver counted, TCP payload only.
type ThroughputResult struct {
	GoodputBps        float64 `json:"goodput_bps"`      // bit/s of the steady part, after slow start
	GoodputMeanBps    float64 `json:"goodput_mean_bps"` // bit/s of the whole test
	Bytes             int64   `json:"bytes"`            // received, whole test
	DurationS         float64 `json:"duration_s"`       // first byte to last byte at the receiver
	SlowStartBytes    int64   `json:"slow_start_bytes"` // received before the steady part
	SlowStartS        float64 `json:"slow_start_s"`     // duration before the steady part
	SteadyS           float64 `json:"steady_s"`         // duration of the steady part; 0: the test is too short to have parts
	Streams           int     `json:"streams"`
	CongestionControl string  `json:"congestion_control"`
	MSSBytes          int     `json:"mss_bytes"`
	RetransmitRatio   float64 `json:"retransmit_ratio"` // retransmitted / sent segments, all streams
	LimitedBy         string  `json:"limited_by"`       // trace.LimitRateCap and so on
	StoppedBy         string  `json:"stopped_by"`       // StoppedSteady and so on; empty when it was cut short
	// Half the width of the 95 % confidence interval of GoodputBps, over it; 0
	// if there are too few rounds to tell.
	GoodputErrorRatio float64  `json:"goodput_error_ratio"`
	Flags             []string `json:"flags,omitempty"` // trace.FlagSlowStart and so on
	// Why LimitedBy says so: the rule that matched and its figures, one line.
	LimitedByEvidence string `json:"limited_by_evidence"`
	// The smaller of receiver's window and send buffer over the least round trip,
	// in bit/s: no rate can be above it. 0 if it is not known.
	WindowCeilingBps float64     `json:"window_ceiling_bps,omitempty"`
	FlowCheck        *FlowCheck  `json:"flow_check,omitempty"` // nil if there was none
	From             *trace.Host `json:"from_host,omitempty"`  // what the sender's machine did in the test
	To               *trace.Host `json:"to_host,omitempty"`    // and the receiver's
	// What the sender's kernel said in the course of the test, all streams added up.
	Samples   trace.Log      `json:"samples,omitempty"`
	PerStream []StreamResult `json:"per_stream"`
	// Of each sample, the bytes that the receiver had counted as long after its
	// first one as the sample is after the test's start.
	Received      []int64     `json:"received,omitempty"`
	StreamSamples []trace.Log `json:"stream_samples,omitempty"` // of each of several streams, with their own times

	Asked   TCPOptions `json:"asked,omitzero"`
	Granted TCPGranted `json:"granted"`
}

// FlowCheck is what two flows did after a test of one. Nothing of it is in the
// test's other figures.
type FlowCheck struct {
	Bytes     int64   `json:"bytes"` // sent, repeats included; without these, not above the test's
	DurationS float64 `json:"duration_s"`
	Ratio     float64 `json:"ratio"` // rate of two flows over the test's
}

// StreamResult is one stream's part of a throughput test.
type StreamResult struct {
	Bytes           int64   `json:"bytes"`            // received, whole test
	GoodputBps      float64 `json:"goodput_bps"`      // bit/s of the steady part; all streams add up to the test's
	RetransmitRatio float64 `json:"retransmit_ratio"` // retransmitted / sent segments
}

// Alive says that the controller is there, and asks whether the agent is.
type Alive struct{}

// Cancel ends a running request early.
type Cancel struct {
	ID uint64 `json:"id"`
}
