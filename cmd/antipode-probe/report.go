//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/units"
)

// report is what a test found. The names are those of results.csv; what was not
// measured is not there.
type report struct {
	Timestamp string `json:"timestamp"` // RFC 3339, UTC, of the beginning
	Peer      string `json:"peer"`      // address and port
	Status    string `json:"status"`    // ok or failed
	Error     string `json:"error,omitempty"`
	*rttPart
	*pathPart
	*throughputPart
	*loadedPart
	*udpPart
	Back *throughputPart `json:"back,omitempty"` // bidirectional: from the peer to here
}

type rttPart struct {
	RTTMinMs     float64 `json:"rtt_min_ms"`
	RTTMeanMs    float64 `json:"rtt_mean_ms"`
	RTTP50Ms     float64 `json:"rtt_p50_ms"`
	RTTP99Ms     float64 `json:"rtt_p99_ms"`
	RTTStddevMs  float64 `json:"rtt_stddev_ms"`
	RTTLossRatio float64 `json:"rtt_loss_ratio"`
	RTTProbes    int     `json:"rtt_probes"`
}

type throughputPart struct {
	GoodputBps        float64  `json:"goodput_bps"`
	GoodputMeanBps    float64  `json:"goodput_mean_bps"`
	Bytes             int64    `json:"bytes"`
	DurationS         float64  `json:"duration_s"`
	Streams           int      `json:"streams"`
	CongestionControl string   `json:"congestion_control"`
	MSSBytes          int      `json:"mss_bytes"`
	RetransmitRatio   float64  `json:"retransmit_ratio"`
	LimitedBy         string   `json:"limited_by"`
	Flags             []string `json:"flags"`
	SlowStartS        float64  `json:"slow_start_s"`
	StoppedBy         string   `json:"stopped_by"`
	GoodputErrorRatio float64  `json:"goodput_error_ratio"`

	PerStream []wire.StreamResult `json:"per_stream"`

	LimitedByEvidence string          `json:"limited_by_evidence"`
	WindowCeilingBps  float64         `json:"window_ceiling_bps,omitempty"`
	FlowCheck         *wire.FlowCheck `json:"flow_check,omitempty"`
	From              *trace.Host     `json:"from_host,omitempty"`
	To                *trace.Host     `json:"to_host,omitempty"`

	Asked   wire.TCPOptions `json:"asked"`
	Granted wire.TCPGranted `json:"granted"`
}

// addRTT takes a result, which is nil when nothing was sent.
func (r *report) addRTT(m *wire.RTTResult) {
	if m == nil || m.Received == 0 {
		return
	}
	r.rttPart = &rttPart{m.MinMs, m.MeanMs, m.P50Ms, m.P99Ms, m.StddevMs, m.LossRatio, m.Probes}
	r.pathPart = newPathPart(m)
}

// addThroughput takes a result, which is nil when nothing was received.
func (r *report) addThroughput(m *wire.ThroughputResult) {
	if m == nil {
		return
	}
	r.throughputPart = partOf(m)
}

// addBack takes the result of the other direction.
func (r *report) addBack(m *wire.ThroughputResult) {
	if m != nil {
		r.Back = partOf(m)
	}
}

func partOf(m *wire.ThroughputResult) *throughputPart {
	return &throughputPart{m.GoodputBps, m.GoodputMeanBps, m.Bytes, m.DurationS, m.Streams,
		m.CongestionControl, m.MSSBytes, m.RetransmitRatio, m.LimitedBy, append([]string{}, m.Flags...), m.SlowStartS, m.StoppedBy, m.GoodputErrorRatio, m.PerStream,
		m.LimitedByEvidence, m.WindowCeilingBps, m.FlowCheck, m.From, m.To, m.Asked, m.Granted}
}

// tell prints the report: for people, who read an error elsewhere, or as one
// line of JSON, which has it too.
func (r *report) tell(w io.Writer, failure error, asJSON bool) error {
	r.Status = "ok"
	if failure != nil {
		r.Status, r.Error = "failed", failure.Error()
	}
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	_, err := io.WriteString(w, r.text())
	return err
}

func (r *report) text() string {
	var b strings.Builder
	if m := r.rttPart; m != nil {
		fmt.Fprintf(&b, "round trip  p50 %s, p99 %s, min %s, mean %s; %s lost of %d probes\n",
			units.Milliseconds(m.RTTP50Ms), units.Milliseconds(m.RTTP99Ms), units.Milliseconds(m.RTTMinMs),
			units.Milliseconds(m.RTTMeanMs), percent(m.RTTLossRatio), m.RTTProbes)
		b.WriteString(r.pathPart.text())
	}
	if m := r.throughputPart; m != nil {
		b.WriteString(m.text(r.loadedPart.text()))
	}
	if m := r.Back; m != nil {
		b.WriteString("back from the peer, at the same time\n" + m.text(""))
	}
	if r.udpPart != nil {
		b.WriteString(r.udpPart.text())
	}
	return b.String()
}

func (m *throughputPart) text(loaded string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "goodput     %s%s after slow start (%.2f s); %s over the whole %.2f s\n",
		units.Rate(m.GoodputBps), within(m.GoodputErrorRatio), m.SlowStartS, units.Rate(m.GoodputMeanBps), m.DurationS)
	fmt.Fprintf(&b, "received    %s in %d streams under %s; %s retransmitted; MSS %d bytes\n",
		units.Bytes(float64(m.Bytes)), m.Streams, m.CongestionControl, percent(m.RetransmitRatio), m.MSSBytes)
	b.WriteString(streamsText(m.PerStream) + loaded)
	fmt.Fprintf(&b, "limited by  %s: %s\n", m.LimitedBy, m.LimitedByEvidence)
	if m.WindowCeilingBps > 0 {
		fmt.Fprintf(&b, "ceiling     %s by window / round trip\n", units.Rate(m.WindowCeilingBps))
	}
	if len(m.Flags) > 0 {
		fmt.Fprintf(&b, "remarks     %s\n", strings.Join(m.Flags, ", "))
	}
	return b.String()
}

// streamsText has a line for each of several streams.
func streamsText(streams []wire.StreamResult) string {
	if len(streams) < 2 {
		return ""
	}
	var b strings.Builder
	for i, m := range streams {
		fmt.Fprintf(&b, "stream %-4d %s after slow start; received %s; %s retransmitted\n",
			i, units.Rate(m.GoodputBps), units.Bytes(float64(m.Bytes)), percent(m.RetransmitRatio))
	}
	return b.String()
}

// within is the confidence interval, where it is known.
func within(errorRatio float64) string {
	if errorRatio == 0 {
		return ""
	}
	return " ± " + percent(errorRatio)
}

func percent(ratio float64) string { return fmt.Sprintf("%.3g %%", 100*ratio) }
