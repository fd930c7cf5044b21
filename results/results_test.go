package results_test

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/results"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// measured is a pair with every cell filled, and numbers that need rounding.
func measured() results.Row {
	return results.Row{
		RunID: "20261130-101500-abcd", Timestamp: "2026-11-30T10:15:00Z", Status: results.StatusOK,
		FromCloud: "aws", FromRegion: "us-east-1", FromZone: "us-east-1a", FromMachine: "t3.nano",
		ToCloud: "gcp", ToRegion: "europe-west3", ToZone: "europe-west3-b", ToMachine: "e2-small",
		DistanceKm: new(6533.12345), Path: "public", IPVersion: "4", NetworkTier: "premium",
		RTTMinMs: new(88.0), RTTMeanMs: new(88.51), RTTP50Ms: new(88.4237), RTTP99Ms: new(91.25), RTTStddevMs: new(0.0004),
		RTTLossRatio: new(0.01), RTTProbes: new(int64(100)),
		GoodputBps: new(1.23e9), GoodputMeanBps: new(100_000_000.4), Bytes: new(int64(123_456_789_012)),
		DurationS: new(10.0000001), Streams: new(int64(1)), CongestionControl: "cubic", MSSBytes: new(int64(1448)),
		RetransmitRatio: new(1e-7), LimitedBy: "unknown", Flags: "slow-start;time-cap",
		LimitedByEvidence: "queue of 12 ms above the least round trip, in 90 % of the samples", WindowCeilingBps: new(2.5e9),
		FromCPURatio: new(.25), ToCPURatio: new(.5), FromStealRatio: new(0.0), ToStealRatio: new(.01),
		FromSoftnetDrops: new(int64(0)), ToSoftnetDrops: new(int64(3)), FromNICDriver: "ena", ToNICDriver: "gve",
		FlowCheckBytes: new(int64(3_000_000)), FlowCheckRatio: new(1.95),
		NICExceeded:  "from:bw_out_allowance_exceeded=12;to:pps_allowance_exceeded=1",
		UDPTargetBps: new(50e6), UDPGoodputBps: new(49.5e6), UDPPacketsPerS: new(4273.135), UDPDatagramBytes: new(int64(1448)),
		UDPLossRatio: new(0.01), UDPReordered: new(int64(3)), UDPDuplicates: new(int64(0)), UDPJitterMs: new(0.012346), UDPOffload: "true",
		RTTStamps: "kernel", RTTSendingMs: new(.0123), RTTUserP50Ms: new(88.6), RTTUserP99Ms: new(95.0), RTTICMPP50Ms: new(88.3),
		TCPConnectMs: new(88.7), RTTLostForward: new(int64(1)), RTTLostBackward: new(int64(0)), RTTLate: new(int64(0)),
		RTTReordered: new(int64(2)), RTTDuplicates: new(int64(0)), OneWayDelayMs: new(44.2), OneWayErrorMs: new(44.0),
		RTTLoadedP50Ms: new(120.5), RTTLoadedP99Ms: new(180.25), RTTLoadedProbes: new(int64(440)), PathMTUBytes: new(int64(1500)),
		FromAddressKind: "nat", ToAddressKind: "nat",
		SendBufferBytes: new(int64(4 << 20)), ReceiveWindowBytes: new(int64(3 << 20)), NoDelay: "true", DSCP: new(int64(46)),
		PacingBps: new(2e9), RateBps: new(1.9e9), ClientPort: new(int64(40000)), FromTuned: "net.core.rmem_max=134217728;net.ipv4.tcp_wmem=4096,16384,134217728", ToTuned: "module.tcp_bbr=loaded",
		Repetition: new(int64(2)),
	}
}

func failed() results.Row {
	return results.Row{
		RunID: "20261130-101500-abcd", Timestamp: "2026-11-30T10:15:10Z",
		Status: results.StatusFailed, Error: "tcp connect: timed out, after 10 s",
		FromCloud: "gcp", FromRegion: "europe-west3", ToCloud: "aws", ToRegion: "us-east-1",
		DistanceKm: new(6533.12345),
	}
}

func write(t *testing.T, rows ...results.Row) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "results.csv")
	w, err := results.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFileIsAsPromised(t *testing.T) {
	got, err := os.ReadFile(write(t, measured(), failed()))
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/two-rows.csv"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("file differs from %s (-want +got):\n%s", golden, diff)
	}
}

// The header is a promise to every reader: columns may only be added on the
// right, so this text may only grow at its end.
func TestHeaderIsAsPromised(t *testing.T) {
	const want = "run_id,timestamp,status,error,from_cloud,from_region,from_zone,from_machine," +
		"to_cloud,to_region,to_zone,to_machine,distance_km,path,ip_version,network_tier," +
		"rtt_min_ms,rtt_mean_ms,rtt_p50_ms,rtt_p99_ms,rtt_stddev_ms,rtt_loss_ratio,rtt_probes," +
		"goodput_bps,goodput_mean_bps,bytes,duration_s,streams,congestion_control,mss_bytes," +
		"retransmit_ratio,limited_by,flags," +
		"limited_by_evidence,window_ceiling_bps,from_cpu_ratio,to_cpu_ratio,from_steal_ratio,to_steal_ratio," +
		"from_softnet_drops,to_softnet_drops,from_nic_driver,to_nic_driver,nic_allowance_exceeded," +
		"udp_target_bps,udp_goodput_bps,udp_packets_per_s,udp_datagram_bytes,udp_loss_ratio,udp_reordered,udp_duplicates," +
		"udp_jitter_ms,udp_offload," +
		"rtt_stamps,rtt_sending_ms,rtt_user_p50_ms,rtt_user_p99_ms,rtt_icmp_p50_ms,tcp_connect_ms," +
		"rtt_lost_forward,rtt_lost_backward,rtt_late,rtt_reordered,rtt_duplicates,one_way_delay_ms,one_way_error_ms," +
		"rtt_loaded_p50_ms,rtt_loaded_p99_ms,rtt_loaded_probes,path_mtu_bytes,from_address_kind,to_address_kind" +
		",stopped_by,goodput_error_ratio" +
		",flow_check_bytes,flow_check_ratio" +
		",send_buffer_bytes,receive_window_bytes,no_delay,dscp,pacing_bps,rate_bps,client_port,from_tuned,to_tuned" +
		",repetition"
	if diff := cmp.Diff(want, strings.Join(results.Columns(), ",")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRoundTrip(t *testing.T) {
	f, err := results.ReadFile(write(t, measured(), failed()))
	if err != nil {
		t.Fatal(err)
	}
	full := measured()
	full.DistanceKm, full.RTTP50Ms, full.RTTStddevMs = new(6533.123), new(88.424), new(0.0)
	full.GoodputMeanBps, full.DurationS = new(1e8), new(10.0)
	short := failed()
	short.DistanceKm = new(6533.123)
	if diff := cmp.Diff(results.File{Rows: []results.Row{full, short}}, f); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, err := results.ReadFile(write(t, f.Rows...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, again); diff != "" {
		t.Errorf("rows change when written again (-first +second):\n%s", diff)
	}
}

func TestWriteLeavesTheCallersRow(t *testing.T) {
	r := measured()
	write(t, r)
	if diff := cmp.Diff(measured(), r); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// Light takes 43.6 ms over 6,533 km and back in vacuum and 64.0 ms in fibre.
func TestRowsThatBeatLightAreFlagged(t *testing.T) {
	for name, c := range map[string]struct {
		rttMs float64
		flags string
		want  string
	}{
		"slow enough":  {88, "slow-start", "slow-start"},
		"under fibre":  {63, "slow-start", "slow-start;below-fibre-floor"},
		"under vacuum": {43, "", "below-vacuum-floor"},
		"flagged":      {43, "below-vacuum-floor;x", "below-vacuum-floor;x"},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured()
			r.RTTMinMs, r.Flags = &c.rttMs, c.flags
			f, err := results.ReadFile(write(t, r))
			if err != nil || f.Rows[0].Flags != c.want {
				t.Errorf("flags = %q, %v; want %q", f.Rows[0].Flags, err, c.want)
			}
		})
	}
}

func TestErrorTextIsHarmless(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"lines":       {"dial:\r\n\tno route\n", "dial: no route"},
		"formula":     {"=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")"},
		"at":          {"@SUM(1)", "'@SUM(1)"},
		"tab formula": {"\t-1+2", "'-1+2"},
		"quotes":      {`say "a,b"`, `say "a,b"`},
		"not UTF-8":   {"bad \xff byte", "bad \uFFFD byte"},
	} {
		t.Run(name, func(t *testing.T) {
			r := failed()
			r.Error = c.text
			path := write(t, r)
			f, err := results.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Rows[0].Error; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if data, _ := os.ReadFile(path); strings.Count(string(data), "\n") != 2 {
				t.Errorf("the row takes more than a line: %q", data)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		base  func() results.Row
		spoil func(*results.Row)
		want  string // column; empty: nothing is wrong
	}{
		"good":                {measured, func(r *results.Row) {}, ""},
		"half no delay":       {measured, func(r *results.Row) { r.NoDelay = "half" }, "no_delay"},
		"large DSCP":          {measured, func(r *results.Row) { r.DSCP = new(int64(64)) }, "dscp"},
		"no repetition":       {measured, func(r *results.Row) { r.Repetition = new(int64(0)) }, "repetition"},
		"no client port":      {measured, func(r *results.Row) { r.ClientPort = new(int64(0)) }, "client_port"},
		"no pacing":           {measured, func(r *results.Row) { r.PacingBps = new(0.0) }, "pacing_bps"},
		"strange settings":    {measured, func(r *results.Row) { r.ToTuned = "net.core.rmem_max" }, "to_tuned"},
		"no rate":             {measured, func(r *results.Row) { r.RateBps = new(0.0) }, "rate_bps"},
		"negative buffer":     {measured, func(r *results.Row) { r.SendBufferBytes = new(int64(-1)) }, "send_buffer_bytes"},
		"good failure":        {failed, func(r *results.Row) {}, ""},
		"only RTT":            {measured, func(r *results.Row) { r.GoodputBps = nil }, "goodput_bps"},
		"no run":              {measured, func(r *results.Row) { r.RunID = "" }, "run_id"},
		"local time":          {measured, func(r *results.Row) { r.Timestamp = "2026-11-30T10:15:00+01:00" }, "timestamp"},
		"unknown status":      {measured, func(r *results.Row) { r.Status = "fine" }, "status"},
		"ok with an error":    {measured, func(r *results.Row) { r.Error = "x" }, "error"},
		"ok without figures":  {failed, func(r *results.Row) { r.Status, r.Error = "ok", "" }, "rtt_p50_ms"},
		"failed with figures": {failed, func(r *results.Row) { r.GoodputBps = new(0.0) }, "status"},
		"failed, no reason":   {failed, func(r *results.Row) { r.Error = " " }, "error"},
		"no cloud":            {measured, func(r *results.Row) { r.FromCloud = "" }, "from_cloud"},
		"formula":             {measured, func(r *results.Row) { r.ToMachine = "=1" }, "to_machine"},
		"NaN":                 {measured, func(r *results.Row) { r.RTTMeanMs = new(math.NaN()) }, "rtt_mean_ms"},
		"infinite":            {measured, func(r *results.Row) { r.GoodputBps = new(math.Inf(1)) }, "goodput_bps"},
		"negative":            {measured, func(r *results.Row) { r.DurationS = new(-1.0) }, "duration_s"},
		"negative count":      {measured, func(r *results.Row) { r.Bytes = new(int64(-1)) }, "bytes"},
		"loss over 1":         {measured, func(r *results.Row) { r.RTTLossRatio = new(1.1) }, "rtt_loss_ratio"},
		"min above median":    {measured, func(r *results.Row) { r.RTTMinMs = new(89.0) }, "rtt_min_ms"},
		"p99 below median":    {measured, func(r *results.Row) { r.RTTP99Ms = new(1.0) }, "rtt_p99_ms"},
		"flags with commas":   {measured, func(r *results.Row) { r.Flags = "a,b" }, "flags"},
		"unknown stamps":      {measured, func(r *results.Row) { r.RTTStamps = "hardware" }, "rtt_stamps"},
		"unknown address":     {measured, func(r *results.Row) { r.ToAddressKind = "ours" }, "to_address_kind"},
		"failed with a kind":  {failed, func(r *results.Row) { r.FromAddressKind = "nat" }, "status"},
		"tiny MTU":            {measured, func(r *results.Row) { r.PathMTUBytes = new(int64(20)) }, "path_mtu_bytes"},
		"delay without error": {measured, func(r *results.Row) { r.OneWayErrorMs = nil }, "one_way_error_ms"},
		"more lost than sent": {measured, func(r *results.Row) { r.RTTLate = new(int64(100)) }, "rtt_probes"},
		"loaded p99":          {measured, func(r *results.Row) { r.RTTLoadedP99Ms = new(1.0) }, "rtt_loaded_p99_ms"},
		"user p99":            {measured, func(r *results.Row) { r.RTTUserP99Ms = new(1.0) }, "rtt_user_p99_ms"},
		"negative sending":    {measured, func(r *results.Row) { r.RTTSendingMs = new(-1.0) }, "rtt_sending_ms"},
		"negative order":      {measured, func(r *results.Row) { r.RTTReordered = new(int64(-1)) }, "rtt_reordered"},
		"unknown path":        {measured, func(r *results.Row) { r.Path = "lan" }, "path"},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.base()
			c.spoil(&r)
			w, err := results.Create(filepath.Join(t.TempDir(), "results.csv"))
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			err = w.Write(r)
			if c.want == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), "column "+c.want+":")) {
				t.Errorf("err = %v, want one about column %s", err, c.want)
			}
		})
	}
}
