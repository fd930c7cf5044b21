//go:build linux

package main

import (
	"fmt"
	"strings"

	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/units"
)

// pathPart is what was found beside the round trips. The names are those of
// results.csv; what was not found out is not there.
type pathPart struct {
	RTTStamps       string   `json:"rtt_stamps"`
	RTTSendingMs    *float64 `json:"rtt_sending_ms,omitempty"`
	RTTUserP50Ms    float64  `json:"rtt_user_p50_ms"`
	RTTUserP99Ms    float64  `json:"rtt_user_p99_ms"`
	RTTICMPP50Ms    float64  `json:"rtt_icmp_p50_ms,omitempty"`
	TCPConnectMs    float64  `json:"tcp_connect_ms,omitempty"`
	RTTLostForward  *int     `json:"rtt_lost_forward,omitempty"`
	RTTLostBackward *int     `json:"rtt_lost_backward,omitempty"`
	RTTLate         *int     `json:"rtt_late,omitempty"`
	RTTReordered    *int     `json:"rtt_reordered,omitempty"`
	RTTDuplicates   *int     `json:"rtt_duplicates,omitempty"`
	OneWayDelayMs   *float64 `json:"one_way_delay_ms,omitempty"`
	OneWayErrorMs   *float64 `json:"one_way_error_ms,omitempty"`
	PathMTUBytes    int      `json:"path_mtu_bytes,omitempty"`
	FromAddressKind string   `json:"from_address_kind,omitempty"`
	ToAddressKind   string   `json:"to_address_kind,omitempty"`
}

func newPathPart(m *wire.RTTResult) *pathPart {
	p := &pathPart{RTTStamps: m.Stamps, RTTUserP50Ms: m.UserP50Ms, RTTUserP99Ms: m.UserP99Ms}
	if m.Stamps == wire.StampsKernel {
		p.RTTSendingMs = &m.SendingMs
	}
	if c := m.Counts; c != nil {
		p.RTTLostForward, p.RTTLostBackward, p.RTTLate = &c.LostForward, &c.LostBackward, &c.Late
		p.RTTReordered, p.RTTDuplicates = &c.Reordered, &c.Duplicates
	}
	if m.OneWay != nil {
		p.OneWayDelayMs, p.OneWayErrorMs = &m.OneWay.DelayMs, &m.OneWay.ErrorMs
	}
	if f := m.Path; f != nil {
		p.RTTICMPP50Ms, p.TCPConnectMs, p.PathMTUBytes = f.ICMPP50Ms, f.TCPConnectMs, f.MTUBytes
		p.FromAddressKind, p.ToAddressKind = f.FromAddressKind, f.ToAddressKind
	}
	return p
}

// clocks says in words whose clocks round trips are of: wire.Stamps constants.
var clocks = map[string]string{
	wire.StampsKernel:  "stamped by both kernels",
	wire.StampsArrival: "arrivals stamped by the kernels",
	wire.StampsUser:    "without the kernel's stamps",
}

func (p *pathPart) text() string {
	others := []string{clocks[p.RTTStamps], "user space p50 " + units.Milliseconds(p.RTTUserP50Ms)}
	if p.TCPConnectMs > 0 {
		others = append(others, "TCP connect "+units.Milliseconds(p.TCPConnectMs))
	}
	if p.RTTICMPP50Ms > 0 {
		others = append(others, "ICMP p50 "+units.Milliseconds(p.RTTICMPP50Ms))
	}
	text := fmt.Sprintf("            %s\n", strings.Join(others, "; "))
	if p.RTTLostForward != nil {
		text += fmt.Sprintf("packets     lost %d forward, %d backward; %d late, %d reordered, %d duplicates\n",
			*p.RTTLostForward, *p.RTTLostBackward, *p.RTTLate, *p.RTTReordered, *p.RTTDuplicates)
	}
	return text + p.pathText()
}

func (p *pathPart) pathText() string {
	var known []string
	if p.PathMTUBytes > 0 {
		known = append(known, fmt.Sprintf("MTU %d bytes", p.PathMTUBytes))
	}
	if p.OneWayDelayMs != nil {
		known = append(known, fmt.Sprintf("%s forward, give or take %s", units.Milliseconds(*p.OneWayDelayMs), units.Milliseconds(*p.OneWayErrorMs)))
	}
	if p.FromAddressKind != "" && p.ToAddressKind != "" {
		known = append(known, fmt.Sprintf("%s address to %s address", p.FromAddressKind, p.ToAddressKind))
	}
	if len(known) == 0 {
		return ""
	}
	return fmt.Sprintf("path        %s\n", strings.Join(known, "; "))
}

// loadedPart is the round trip beside a throughput test.
type loadedPart struct {
	RTTLoadedP50Ms  float64 `json:"rtt_loaded_p50_ms"`
	RTTLoadedP99Ms  float64 `json:"rtt_loaded_p99_ms"`
	RTTLoadedProbes int     `json:"rtt_loaded_probes"`
}

// addLoaded takes a result, which is nil when there is none.
func (r *report) addLoaded(m *wire.RTTResult) {
	if m != nil {
		r.loadedPart = &loadedPart{m.P50Ms, m.P99Ms, m.Probes}
	}
}

func (p *loadedPart) text() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("under load  round trip p50 %s, p99 %s, of %d probes\n",
		units.Milliseconds(p.RTTLoadedP50Ms), units.Milliseconds(p.RTTLoadedP99Ms), p.RTTLoadedProbes)
}
