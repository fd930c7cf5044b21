package results_test

import (
	"strings"
	"testing"

	"github.com/antipode-bench/antipode/results"
)

func TestValidateUDP(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*results.Row)
		want   string // empty: valid
	}{
		"measured":       {func(*results.Row) {}, ""},
		"as fast as can": {func(r *results.Row) { r.UDPTargetBps = new(0.0) }, ""},
		"not measured": {func(r *results.Row) {
			r.UDPTargetBps, r.UDPGoodputBps, r.UDPPacketsPerS, r.UDPDatagramBytes = nil, nil, nil, nil
			r.UDPLossRatio, r.UDPReordered, r.UDPDuplicates, r.UDPJitterMs, r.UDPOffload = nil, nil, nil, nil, ""
		}, ""},
		"a cell missing":   {func(r *results.Row) { r.UDPJitterMs = nil }, "udp_jitter_ms: empty beside udp_target_bps"},
		"offload missing":  {func(r *results.Row) { r.UDPOffload = "" }, "udp_offload: empty"},
		"offload perhaps":  {func(r *results.Row) { r.UDPOffload = "perhaps" }, `udp_offload: "perhaps"`},
		"all lost twice":   {func(r *results.Row) { r.UDPLossRatio = new(2.0) }, "udp_loss_ratio: 2 is outside"},
		"less than none":   {func(r *results.Row) { r.UDPReordered = new(int64(-1)) }, "udp_reordered: -1"},
		"no bytes":         {func(r *results.Row) { r.UDPDatagramBytes = new(int64(0)) }, "udp_datagram_bytes: 0"},
		"too many bytes":   {func(r *results.Row) { r.UDPDatagramBytes = new(int64(65508)) }, "udp_datagram_bytes: 65508"},
		"more than fits":   {func(r *results.Row) { r.UDPPacketsPerS = new(1.0) }, "udp_goodput_bps: more than"},
		"failed, measured": {func(r *results.Row) { r.Flags = results.FlagUDPFailed }, "udp-failed with figures"},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured()
			c.change(&r)
			err := results.Validate(r)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("Validate = %v, want %q", err, c.want)
			}
		})
	}
	r := failed()
	r.UDPOffload = "true"
	if results.Validate(r) == nil {
		t.Error("a failed pair has figures")
	}
}
