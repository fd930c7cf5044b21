package e2e

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/results"
)

// six regions, three of each cloud, on four continents, as `make run` has them.
const six = "aws:us-east-1,aws:eu-central-1,aws:ap-northeast-1,gcp:us-west1,gcp:southamerica-east1,gcp:asia-southeast1"

const columns = "run_id,timestamp,status,error,from_cloud,from_region,from_zone,from_machine,to_cloud,to_region,to_zone,to_machine," +
	"distance_km,path,ip_version,network_tier,rtt_min_ms,rtt_mean_ms,rtt_p50_ms,rtt_p99_ms,rtt_stddev_ms,rtt_loss_ratio,rtt_probes," +
	"goodput_bps,goodput_mean_bps,bytes,duration_s,streams,congestion_control,mss_bytes,retransmit_ratio,limited_by,flags"

const (
	// exactRows of 30 are enough: a row says when the computer was too busy for it.
	exactRows = 20
	// sweepTries are how many sweeps may together find as many.
	sweepTries = 6
)

// TestSweep is the main job: thirty pairs, files that are complete, and figures
// that agree with the lab's truth and with what its router counted.
func TestSweep(t *testing.T) {
	for name, u := range users(t) {
		t.Run(name, func(t *testing.T) {
			exact := map[string]bool{} // by pair
			upTo(t, sweepTries, func(int) (wrong string) {
				w := newWatch()
				wrong = sweepSix(t, u, exact, name == "root")
				late := w.end()
				t.Logf("%d of 30 pairs were measured while the computer was quiet enough; %.1f %% of ticks were late", len(exact), 100*late)
				if wrong != "" || len(exact) >= exactRows {
					return wrong
				}
				return fmt.Sprintf("%d pairs of 30 were exact, want %d", len(exact), exactRows)
			})
		})
	}
}

// sweepSix sweeps once and checks everything, with the second flow's check or as
// it is without flags. It adds the pairs to exact whose figures could be held
// against the truth, and says where they are not true.
func sweepSix(t *testing.T, u user, exact map[string]bool, flowCheck bool) (wrong string) {
	t.Helper()
	o := u.run(t, 3*time.Minute, "sweep", "--lab", "--yes", fmt.Sprintf("--flow-check=%t", flowCheck), "--regions", six)
	o.want(t, 0, "30 pairs: 30 ok, 0 failed, 0 skipped", "nothing is left")
	dir := u.runFolder(t)
	defer os.RemoveAll(dir)
	rows := readRows(t, dir)
	checkRows(t, rows, filepath.Base(dir))
	checkDelivered(t, rows, readTable(t, filepath.Join(dir, "delivered.csv")))
	wrong = strings.Join(checkTruth(t, rows, readTable(t, filepath.Join(dir, "truth.csv")), exact, flowCheck), "\n")
	checkCharts(t, filepath.Join(dir, "charts"))
	if samples := readTable(t, filepath.Join(dir, "samples.csv")); len(samples) != 30 {
		t.Errorf("samples of %d pairs, want 30", len(samples))
	}
	for _, name := range []string{"journal.jsonl", "world.yaml"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, or empty", name, err)
		}
	}
	truth := u.run(t, time.Minute, "lab", "truth", filepath.Base(dir))
	truth.want(t, 0, "from_cloud,from_region,to_cloud,to_region,rtt_ms,goodput_bps,limited_by")
	return wrong
}

func readRows(t *testing.T, dir string) []results.Row {
	t.Helper()
	path := filepath.Join(dir, "results.csv")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if head, _, _ := bytes.Cut(data, []byte("\n")); !strings.HasPrefix(string(head), columns) {
		t.Errorf("results.csv begins with %s", head)
	}
	file, err := results.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file.Rows
}

func checkRows(t *testing.T, rows []results.Row, runID string) {
	t.Helper()
	pairs := map[string]bool{}
	for _, r := range rows {
		if r.Status != results.StatusOK || r.RunID != runID || r.Path != "public" || r.IPVersion != "4" || !r.HasFlag(results.FlagLab) {
			t.Errorf("row %+v", r)
		}
		pairs[r.FromRegion+">"+r.ToRegion] = true
	}
	if len(rows) != 30 || len(pairs) != 30 {
		t.Errorf("%d rows of %d pairs, want 30 of 30", len(rows), len(pairs))
	}
}

// table is a CSV file by directed pair, "cloud:region>cloud:region".
type table map[string]map[string]string

func readTable(t *testing.T, path string) table {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) == 0 {
		t.Fatalf("%s: %v, %d lines", path, err, len(lines))
	}
	all := table{}
	for _, line := range lines[1:] {
		cells := map[string]string{}
		for i, name := range lines[0] {
			cells[name] = line[i]
		}
		all[fmt.Sprintf("%s:%s>%s:%s", cells["from_cloud"], cells["from_region"], cells["to_cloud"], cells["to_region"])] = cells
	}
	return all
}

func (tb table) cell(r results.Row, column string) string {
	return tb[fmt.Sprintf("%s:%s>%s:%s", r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion)][column]
}

func (tb table) number(t *testing.T, r results.Row, column string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(tb.cell(r, column), 64)
	if err != nil {
		t.Fatalf("%s of %s>%s: %v", column, r.FromRegion, r.ToRegion, err)
	}
	return x
}

// checkTruth holds the figures against what a perfect measurement would have
// said, and adds the pairs that could be to exact. Of three limits of four the
// name is the true one: a moment of a busy computer makes a limit of its own. A cap
// of each flow is one of the rate to who does not try a second flow.
func checkTruth(t *testing.T, rows []results.Row, truth table, exact map[string]bool, flowCheck bool) (wrong []string) {
	t.Helper()
	n, named := 0, 0
	for _, r := range rows {
		pair := r.FromRegion + ">" + r.ToRegion
		if r.HasFlag(results.FlagLabBusy) {
			continue
		}
		exact[pair] = true
		want := truth.number(t, r, "rtt_ms")
		if d := math.Abs(*r.RTTP50Ms - want); d > max(1, want/100) {
			wrong = append(wrong, fmt.Sprintf("%s: RTT %.3f ms, true %.3f ms", pair, *r.RTTP50Ms, want))
		}
		n++
		limit := truth.cell(r, "limited_by")
		if limit == trace.LimitFlowCap && !flowCheck {
			limit = trace.LimitRateCap
		}
		if r.LimitedBy == limit {
			named++
		} else {
			t.Logf("%s: limited by %s, in truth by %s: %s", pair, r.LimitedBy, limit, r.LimitedByEvidence)
		}
		want = truth.number(t, r, "goodput_bps")
		if d := math.Abs(*r.GoodputBps/want - 1); d > 0.1 {
			wrong = append(wrong, fmt.Sprintf("%s: goodput %.1f Mbit/s, true %.1f Mbit/s; flags %q", pair, *r.GoodputBps/1e6, want/1e6, r.Flags))
		}
	}
	if 4*named < 3*n {
		wrong = append(wrong, fmt.Sprintf("limited_by is right of %d pairs, want three quarters of %d", named, n))
	}
	return wrong
}

// checkDelivered holds the bytes reported against the router's count, which also
// has what was sent twice, the few bytes of the tests' control, and what arrived
// of the second flow's check.
func checkDelivered(t *testing.T, rows []results.Row, delivered table) {
	t.Helper()
	for _, r := range rows {
		got, counted := float64(*r.Bytes), delivered.number(t, r, "payload_bytes")
		check := 0.0
		if r.FlowCheckBytes != nil {
			check = float64(*r.FlowCheckBytes)
		}
		if got > counted || got+check < counted*0.97-64e3 {
			t.Errorf("%s > %s: %.0f bytes reported and %.0f of the check, %.0f delivered by the router", r.FromRegion, r.ToRegion, got, check, counted)
		}
	}
}

func checkCharts(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"all", "aws-aws", "aws-gcp", "gcp-aws", "gcp-gcp"} {
		svg, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		if err != nil || !bytes.Contains(svg, []byte("</svg>")) {
			t.Errorf("%s.svg: %v, or not whole", name, err)
		}
		f, err := os.Open(filepath.Join(dir, name+".png"))
		if err != nil {
			t.Error(err)
			continue
		}
		if img, err := png.Decode(f); err != nil || img.Bounds().Dx() < 1000 {
			t.Errorf("%s.png: %v, or too small", name, err)
		}
		f.Close()
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 10 {
		t.Errorf("%d charts, %v; want five SVG and five PNG", len(files), err)
	}
}
