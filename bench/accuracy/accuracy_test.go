//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/antipode-bench/antipode/lab"
	"github.com/antipode-bench/antipode/lab/router"
	"github.com/antipode-bench/antipode/lab/world"
	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// TestMain is a lab's inner process too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == lab.InnerCommand {
		os.Exit(lab.InnerMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// TestSmoke measures two paths shortly.
func TestSmoke(t *testing.T) {
	dir := t.TempDir()
	o := options{
		budget: 1500e6, probes: 20, udp: 300 * time.Millisecond,
		duration: time.Second, eased: 500 * time.Millisecond, ten: true,
		probe: filepath.Join(dir, "probe"), machine: filepath.Join(dir, "machine"),
	}
	build(t, o.probe, "antipode-probe")
	build(t, o.machine, "antipode-machine")
	paths := []Path{
		{Name: "capped", Set: setTuning, Congestion: "cubic", RTTMs: 4, MachineBps: 300e6, FlowBps: 20e6},
		{Name: "bucket", Set: setBucket, Congestion: "cubic", RTTMs: 2, MachineBps: 200e6, BaselineBps: 20e6, BurstBytes: 20e6},
	}
	const tries = 3 // a computer that stands still fails a test that is short
	var records []*record
	for try := range tries {
		o.results = filepath.Join(dir, fmt.Sprint("results", try))
		if err := measureAll(t.Context(), o, paths); err != nil {
			t.Fatal(err)
		}
		var err error
		if records, err = readRecords(o.results, paths); err != nil {
			t.Fatal(err)
		}
		wrong := incomplete(t, records)
		if wrong == "" {
			break
		}
		t.Logf("try %d: %s", try, wrong)
		if try == tries-1 {
			t.Error(wrong)
		}
	}
	if _, ok := records[0].causes(); !ok {
		t.Errorf("the causes of %s are not known", records[0].Path.Name)
	}
	var out bytes.Buffer
	if err := printReport(&out, records, true); err != nil || !strings.Contains(out.String(), "| the probe |") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// incomplete says which record lacks something.
func incomplete(t *testing.T, records []*record) (wrong string) {
	t.Helper()
	for _, r := range records {
		if _, n := r.exactOnly(); n > 0 {
			t.Logf("%s: the lab was too busy for %d tests", r.Path.Name, n)
		}
		if r.Failed["rtt"] != "" { // of all tests this one alone minds a busy computer
			t.Log(r.Failed["rtt"])
			delete(r.Failed, "rtt")
			r.RTT = &wire.RTTResult{}
		}
		complete := r.RTT != nil && r.UDP != nil && r.Long != nil && r.Adaptive != nil && r.Ten != nil
		if !complete || len(r.Failed) > 0 || len(r.Long.Carried) < 20 {
			wrong = fmt.Sprintf("%s: %+v", r.Path.Name, r)
		}
	}
	return wrong
}

// TestMeasuredOnce gives a probe that can't run: nothing is left to be measured.
func TestMeasuredOnce(t *testing.T) {
	p := Path{Name: "p", Set: setTuning, Congestion: "cubic", RTTMs: 1, MachineBps: 100e6}
	o := options{results: t.TempDir(), budget: 1500e6, ten: true, eased: time.Second, duration: time.Second, probe: os.DevNull, machine: os.DevNull}
	done := func() *transfer { return &transfer{Result: &wire.ThroughputResult{}, Carried: ramp(1, 1e6)} }
	r := &record{Path: p, RTT: &wire.RTTResult{}, UDP: &datagrams{&wire.UDPResult{}, &router.FlowCount{}},
		Long: done(), Adaptive: done(), Ten: done(), Eased: map[string]*transfer{"rate-cap": done()}}
	file := filepath.Join(o.results, "p.json")
	if err := r.write(file); err != nil {
		t.Fatal(err)
	}
	if err := measureAll(t.Context(), o, []Path{p}); err != nil {
		t.Fatal(err)
	}
	got, err := readRecord(file, p)
	if err != nil || len(got.Failed) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if diff := cmp.Diff(r, got, cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	p.RTTMs++
	if _, err := readRecord(file, p); err == nil {
		t.Error("another path's results are taken for its own")
	}
	if (&transfer{LateRatio: 0.5}).exact() || (&transfer{StallMs: 1000}).exact() || (*transfer)(nil).exact() {
		t.Error("what is late, or not there, is exact")
	}
}

func TestExactOnly(t *testing.T) {
	late, good := &transfer{LateRatio: 0.5}, &transfer{}
	r := &record{Long: late, Adaptive: good, Eased: map[string]*transfer{"loss": late, "rate-cap": good}}
	got, n := r.exactOnly()
	want := &record{Adaptive: good, Eased: map[string]*transfer{"rate-cap": good}}
	if diff := cmp.Diff(want, got); diff != "" || n != 2 {
		t.Errorf("%d left out (-want +got):\n%s", n, diff)
	}
	if r.Long != late || len(r.Eased) != 2 {
		t.Error("the record itself was changed")
	}
}

func build(t *testing.T, to, command string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", to, "github.com/antipode-bench/antipode/cmd/"+command)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestPathsAreDrawn(t *testing.T) {
	paths, err := readPaths(pathsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(drawAll(0), paths); diff != "" {
		t.Errorf("paths.csv is not what --draw prints (-want +got):\n%s", diff)
	}
	if cmp.Equal(drawAll(0), drawAll(1)) {
		t.Error("another seed draws the same")
	}
}

func TestPathsAreWorlds(t *testing.T) {
	for _, p := range drawAll(0) {
		for _, e := range append(p.easings(), easing{"nothing", p}) {
			data, err := worldOf([]Path{e.path}, Path.disturbed).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := world.Parse(p.Name, data); err != nil {
				t.Errorf("%s without %s: %v", p.Name, e.cause, err)
			}
		}
		if bps := p.expectedBps(); bps <= 0 || bps > p.capBps() {
			t.Errorf("%+v is expected to carry %v", p, bps)
		}
		if p.RTTMs < 1 || p.RTTMs > 300 || p.capBps() < 10e6 || p.capBps() > 1e9 || p.LossRatio > 0.01 {
			t.Errorf("%+v is out of bounds", p)
		}
	}
}

func TestEasings(t *testing.T) {
	for name, c := range map[string]struct {
		path Path
		want []string
	}{
		"near":        {Path{RTTMs: 1, MachineBps: 100e6}, []string{"rate-cap"}},
		"lossy":       {Path{RTTMs: 1, MachineBps: 100e6, LossRatio: 0.01}, []string{"loss", "rate-cap"}},
		"flow":        {Path{RTTMs: 1, MachineBps: 100e6, FlowBps: 30e6}, []string{"flow-cap"}},
		"equal":       {Path{RTTMs: 1, MachineBps: 100e6, FlowBps: 100e6}, []string{"flow-cap", "rate-cap"}},
		"far":         {Path{RTTMs: 200, MachineBps: 1e9}, []string{"rate-cap", "receive-window", "send-buffer"}},
		"buffer":      {Path{RTTMs: 10, MachineBps: 100e6, SendBytes: 64 << 10}, []string{"rate-cap", "send-buffer"}},
		"slow source": {Path{RTTMs: 10, MachineBps: 100e6, RateBps: 50e6}, []string{"rate-cap", "application"}},
		"wide buffer": {Path{RTTMs: 10, MachineBps: 100e6, SendBytes: 1 << 20}, []string{"rate-cap"}},
	} {
		var got []string
		for _, e := range c.path.easings() {
			got = append(got, e.cause)
			if e.path == c.path {
				t.Errorf("%s: %s is not eased", name, e.cause)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// ramp is a transfer of so many seconds that has its rate after a second.
func ramp(length int, bps float64) (c curve) {
	bytes := 0.0
	for at := time.Duration(0); at <= time.Duration(length)*time.Second; at += sampleEvery {
		c = append(c, trace.Point{At: at, Bytes: int64(bytes)})
		bytes += min(1, at.Seconds()) * bps / 8 * sampleEvery.Seconds()
	}
	return c
}

func TestRulesOnARamp(t *testing.T) {
	c := ramp(32, 100e6)
	if got := reference(c); math.Abs(got/100e6-1) > 0.001 || !steadyPath(c) {
		t.Errorf("reference %v, steady %v", got, steadyPath(c))
	}
	for _, want := range []struct {
		name     string
		from, to time.Duration
		bps      float64
	}{
		{"ten seconds, whole", fullTest, fullTest, 95e6},
		{"ten seconds, last half", fullTest, fullTest, 100e6},
		{"out of BBR's start-up", 300 * time.Millisecond, 2 * time.Second, 0},
		{"stable for a second", 1500 * time.Millisecond, 2 * time.Second, 100e6},
		{"10 MB", time.Second, 1400 * time.Millisecond, 61.5e6},
	} {
		i := slices.IndexFunc(rules, func(r rule) bool { return r.name == want.name })
		got := rules[i].end(c, 20*time.Millisecond)
		if got.at < want.from || got.at > want.to || want.bps > 0 && math.Abs(got.bps/want.bps-1) > 0.02 {
			t.Errorf("%s: %+v, want %+v", want.name, got, want)
		}
	}
}

func TestCurveBeginsWithThePayload(t *testing.T) {
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	c := newCurve([]router.FlowSample{{At: at(5), Bytes: 0}, {At: at(20), Bytes: 64}, {At: at(40), Bytes: 1064}, {At: at(60), Bytes: 3064}})
	if diff := cmp.Diff(curve{{At: 0, Bytes: 1000}, {At: at(20), Bytes: 3000}}, c); diff != "" {
		t.Errorf("curve (-want +got):\n%s", diff)
	}
	if got := c.bytesAt(at(5)); got != 1500 {
		t.Errorf("%v bytes after 5 ms", got)
	}
	if got := c.bps(0, at(20)); got != 1_200_000 {
		t.Errorf("%v bit/s: nothing is there before the first sample", got)
	}
	if got := c.until(at(19)); len(got) != 1 || len(c.until(at(20))) != 2 {
		t.Errorf("until 19 ms: %v", got)
	}
	if newCurve(nil) != nil || (curve)(nil).bytesAt(1) != 0 || (curve)(nil).end() != 0 {
		t.Error("nothing is something")
	}
}

func TestVerdicts(t *testing.T) {
	path := Path{Name: "p", Congestion: "cubic", RTTMs: 1, MachineBps: 100e6, PoliceBps: 50e6}
	rec := func(p Path, said string, eased float64) *record {
		tr := func(bps float64) *transfer {
			return &transfer{Carried: ramp(12, bps), Result: &wire.ThroughputResult{LimitedBy: said}}
		}
		return &record{Path: p, Long: tr(40e6), Eased: map[string]*transfer{"rate-cap": tr(eased), "flow-cap": tr(eased)}}
	}
	flow := Path{Name: "f", Congestion: "bbr", RTTMs: 1, MachineBps: 100e6, FlowBps: 50e6}
	for name, c := range map[string]struct {
		r            *record
		right, alike bool
		n            int
	}{
		"right":               {rec(path, "rate-cap", 80e6), true, true, 1},
		"a policer's loss":    {rec(path, "loss", 80e6), true, true, 1},
		"wrong":               {rec(path, "application", 80e6), false, false, 1},
		"a flow's cap":        {rec(flow, "flow-cap", 80e6), true, true, 1},
		"a machine's instead": {rec(flow, "rate-cap", 80e6), false, true, 1},
		"no cause":            {rec(path, "rate-cap", 41e6), false, false, 0},
	} {
		list := verdicts([]*record{c.r}, longSays)
		if len(list) != c.n || c.n > 0 && (list[0].right != c.right || list[0].alike != c.alike) {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

func TestTallyDatagrams(t *testing.T) {
	flow := &router.FlowCount{Delivered: router.Tally{Packets: 102}, Sent: 104, Duplicated: 3, Reordered: 2}
	for name, c := range map[string]struct {
		got  wire.UDPResult
		want datagramTally
	}{
		"equal":              {wire.UDPResult{Sent: 102, Received: 97, Duplicates: 3, Reordered: 2}, datagramTally{1, 1, 1, 1, 0}},
		"an opening lost":    {wire.UDPResult{Sent: 102, Received: 98, Duplicates: 2, Reordered: 2}, datagramTally{1, 1, 1, 1, 0}},
		"another one lost":   {wire.UDPResult{Sent: 104, Received: 98, Duplicates: 3, Reordered: 2}, datagramTally{1, 0, 1, 1, 1}},
		"too many of a sort": {wire.UDPResult{Sent: 104, Received: 99, Duplicates: 7, Reordered: 0}, datagramTally{1, 1, 0, 0, 4}},
	} {
		got := tallyDatagrams([]*record{{UDP: &datagrams{&c.got, flow}}})
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(datagramTally{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestExpected(t *testing.T) {
	for name, c := range map[string]struct {
		path     Path
		from, to float64
	}{
		"cap":               {Path{RTTMs: 10, MachineBps: 300e6, FlowBps: 100e6, Congestion: "cubic"}, 100e6, 100e6},
		"slow source":       {Path{RTTMs: 10, MachineBps: 300e6, RateBps: 20e6, Congestion: "cubic"}, 20e6, 20e6},
		"stock buffer":      {Path{RTTMs: 200, MachineBps: 1e9, Congestion: "bbr"}, 160e6, 180e6},
		"cubic at a loss":   {Path{RTTMs: 100, MachineBps: 1e9, LossRatio: 0.01, Congestion: "cubic"}, 2e6, 4e6},
		"bbr does not mind": {Path{RTTMs: 50, MachineBps: 100e6, LossRatio: 0.01, Congestion: "bbr"}, 100e6, 100e6},
	} {
		if got := c.path.expectedBps(); got < c.from || got > c.to {
			t.Errorf("%s: %v, want %v to %v", name, got, c.from, c.to)
		}
	}
	lossy := Path{RTTMs: 10, MachineBps: 100e6, LossRatio: 0.001, Congestion: "cubic"}
	if got := lossy.easedDuration(12 * time.Second); got != 12*time.Second {
		t.Errorf("losses are watched for %v", got)
	}
	if got := (Path{RTTMs: 10}).easedDuration(12 * time.Second); got != 3500*time.Millisecond {
		t.Errorf("a short path is watched for %v", got)
	}
}

func TestWatchSeesNoStallWhereNoneIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch()
		time.Sleep(time.Second)
		if worst := w.end(); worst != 0 {
			t.Errorf("%s without any", worst)
		}
	})
}

func TestQuantile(t *testing.T) {
	values := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, 0.5: 2, 0.75: 3, 0.99: 4, 1: 4} {
		if got := quantile(values, q); got != want {
			t.Errorf("quantile %v = %v, want %v", q, got, want)
		}
	}
	if !math.IsNaN(quantile(nil, 0.5)) || !math.IsNaN(share(1, 0)) {
		t.Error("nothing has a quantile")
	}
}

// recorded is a ten-second test on a path that has its rate from the first
// round on, as a sender sees it: a standing queue, no loss.
func recorded(bps float64) trace.Log {
	var log trace.Log
	for at := time.Duration(0); at <= fullTest; at += sampleEvery {
		bytes := int64(bps / 8 * at.Seconds())
		log = append(log, trace.Sample{
			At: at, Acked: bytes, Sent: bytes, SRTT: 60 * time.Millisecond, MinRTT: 20 * time.Millisecond,
			Window: 1 << 20, PeerWindow: 8 << 20, Unacked: 1 << 20, Unsent: 1 << 20, Busy: at, Fed: true, Whole: true,
		})
	}
	return log
}

func TestJudgedAgain(t *testing.T) {
	test := &transfer{Carried: ramp(32, 50e6), Result: &wire.ThroughputResult{
		Samples: recorded(50e6), MSSBytes: 1448, Streams: 1, CongestionControl: "cubic",
	}}
	r := &record{Path: Path{Congestion: "cubic", RTTMs: 20}, Long: test, Ten: test}
	bytes, bps, _, ok := r.ruleAgain()
	if !ok || bytes > 20e6 || math.Abs(bps/50e6-1) > 0.05 {
		t.Errorf("the rule ends after %v bytes with %v bit/s", bytes, bps)
	}
	if got := r.Long.limitAgain(); got != trace.LimitRateCap {
		t.Errorf("limited by %s", got)
	}
	if _, _, _, ok := new(record).ruleAgain(); ok || (*transfer)(nil).limitAgain() != "" {
		t.Error("something is said of nothing")
	}
}
