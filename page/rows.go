package page

import (
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
)

// rows are what a click on a pair and the download show: the columns of
// results.csv that say what was measured and why, by their names there.
type rows struct {
	Pair   []int32  `json:"pair"` // parallel to the columns; indexes pairs
	Texts  []texts  `json:"texts"`
	Values []values `json:"numbers"`
	Series series   `json:"series"`
}

// texts are a column of words: each word once, and which.
type texts struct {
	Name  string   `json:"name"`
	Words []string `json:"words"`
	Which []int    `json:"which"`
}

type values struct {
	Name   string  `json:"name"`
	Values numbers `json:"values"`
}

// textColumns are in the order that the page shows.
func textColumns() []column[string] {
	return []column[string]{
		{"run_id", func(r *results.Row) string { return r.RunID }},
		{"timestamp", func(r *results.Row) string { return r.Timestamp }},
		{"status", func(r *results.Row) string { return r.Status }},
		{"error", func(r *results.Row) string { return r.Error }},
		{"from_zone", func(r *results.Row) string { return r.FromZone }},
		{"from_machine", func(r *results.Row) string { return r.FromMachine }},
		{"to_zone", func(r *results.Row) string { return r.ToZone }},
		{"to_machine", func(r *results.Row) string { return r.ToMachine }},
		{"path", func(r *results.Row) string { return r.Path }},
		{"ip_version", func(r *results.Row) string { return r.IPVersion }},
		{"network_tier", func(r *results.Row) string { return r.NetworkTier }},
		{"congestion_control", func(r *results.Row) string { return r.CongestionControl }},
		{"limited_by", func(r *results.Row) string { return r.LimitedBy }},
		{"limited_by_evidence", func(r *results.Row) string { return r.LimitedByEvidence }},
		{"nic_allowance_exceeded", func(r *results.Row) string { return r.NICExceeded }},
		{"stopped_by", func(r *results.Row) string { return r.StoppedBy }},
		{"flags", func(r *results.Row) string { return r.Flags }},
	}
}

func numberColumns() []column[float64] {
	return []column[float64]{
		{"distance_km", func(r *results.Row) float64 { return known(r.DistanceKm) }},
		{"rtt_min_ms", func(r *results.Row) float64 { return known(r.RTTMinMs) }},
		{"rtt_mean_ms", func(r *results.Row) float64 { return known(r.RTTMeanMs) }},
		{"rtt_p50_ms", func(r *results.Row) float64 { return known(r.RTTP50Ms) }},
		{"rtt_p99_ms", func(r *results.Row) float64 { return known(r.RTTP99Ms) }},
		{"rtt_loaded_p50_ms", func(r *results.Row) float64 { return known(r.RTTLoadedP50Ms) }},
		{"rtt_loss_ratio", func(r *results.Row) float64 { return known(r.RTTLossRatio) }},
		{"goodput_bps", func(r *results.Row) float64 { return known(r.GoodputBps) }},
		{"goodput_error_ratio", func(r *results.Row) float64 { return known(r.GoodputErrorRatio) }},
		{"bytes", func(r *results.Row) float64 { return known(r.Bytes) }},
		{"duration_s", func(r *results.Row) float64 { return known(r.DurationS) }},
		{"streams", func(r *results.Row) float64 { return known(r.Streams) }},
		{"retransmit_ratio", func(r *results.Row) float64 { return known(r.RetransmitRatio) }},
		{"window_ceiling_bps", func(r *results.Row) float64 { return known(r.WindowCeilingBps) }},
		{"from_cpu_ratio", func(r *results.Row) float64 { return known(r.FromCPURatio) }},
		{"to_cpu_ratio", func(r *results.Row) float64 { return known(r.ToCPURatio) }},
		{"path_mtu_bytes", func(r *results.Row) float64 { return known(r.PathMTUBytes) }},
		{"udp_goodput_bps", func(r *results.Row) float64 { return known(r.UDPGoodputBps) }},
		{"udp_loss_ratio", func(r *results.Row) float64 { return known(r.UDPLossRatio) }},
	}
}

type column[T any] struct {
	name string
	of   func(*results.Row) T
}

// rowsOf leaves columns out that no row fills.
func rowsOf(d *analysis.Data) rows {
	var t rows
	if d.Rows == nil {
		return t
	}
	for _, o := range d.Obs {
		t.Pair = append(t.Pair, o.Pair)
	}
	for _, c := range textColumns() {
		if col := textsOf(c, d.Rows); len(col.Words) > 1 || col.Words[0] != "" {
			t.Texts = append(t.Texts, col)
		}
	}
	for _, c := range numberColumns() {
		if col := valuesOf(c, d.Rows); col.Values != nil {
			t.Values = append(t.Values, col)
		}
	}
	return t
}

func textsOf(c column[string], rows []results.Row) texts {
	t := texts{Name: c.name}
	index := map[string]int{}
	for i := range rows {
		word := c.of(&rows[i])
		at, known := index[word]
		if !known {
			at = len(t.Words)
			index[word] = at
			t.Words = append(t.Words, word)
		}
		t.Which = append(t.Which, at)
	}
	return t
}

func valuesOf(c column[float64], rows []results.Row) values {
	v := values{Name: c.name}
	some := false
	for i := range rows {
		n := c.of(&rows[i])
		some = some || n == n // not NaN
		v.Values = append(v.Values, n)
	}
	if !some {
		v.Values = nil
	}
	return v
}
