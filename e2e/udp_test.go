package e2e

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/results"
)

const badWay = `
controller: {delay_ms: 0.5}
regions:
- {id: aws:us-east-1, latitude: 39.04, longitude: -77.49, egress_bps: 50000000, ingress_bps: 50000000}
- {id: gcp:us-east4, latitude: 39.03, longitude: -77.47, egress_bps: 50000000, ingress_bps: 50000000}
pairs:
- {from: gcp:us-east4, to: aws:us-east-1, delay_ms: 5}
- {from: aws:us-east-1, to: gcp:us-east4, delay_ms: 5, loss_ratio: 0.03, reorder_ratio: 0.03, reorder_ms: 2, duplicate_ratio: 0.03}
`

// TestUDPThroughput holds what a sweep says of datagrams against what the lab's
// router did to them. That also counts the few packets of the other tests.
func TestUDPThroughput(t *testing.T) {
	u := self(t)
	world := filepath.Join(u.dir, "world.yaml")
	if err := os.WriteFile(world, []byte(badWay), 0o644); err != nil {
		t.Fatal(err)
	}
	o := u.run(t, time.Minute, "sweep", "--lab", "--yes", "--lab-world", world, "--pairs", "aws:us-east-1>gcp:us-east4",
		"--bytes", "50kB", "--duration", "0", "--rtt-probes", "3", "--udp-rate", "20M", "--udp-duration", "1s")
	o.want(t, 0, "1 pair: 1 ok", "nothing is left")
	file, err := results.ReadFile(filepath.Join(u.runFolder(t), "results.csv"))
	if err != nil || len(file.Rows) != 1 {
		t.Fatalf("%d rows, %v", len(file.Rows), err)
	}
	row := file.Rows[0]
	if row.UDPTargetBps == nil || *row.UDPTargetBps != 20e6 || *row.UDPDatagramBytes != 1448 || *row.UDPReordered == 0 {
		t.Fatalf("%+v", row)
	}
	sent := 20e6 / (8 * 1448.) // in a second
	checkDatagramSamples(t, readFile(t, u.runFolder(t), "samples.csv"), sent)
	delivered := readTable(t, filepath.Join(u.runFolder(t), "delivered.csv"))
	for _, way := range delivered {
		if way["from_region"] != "us-east-1" {
			continue
		}
		counted := func(column string) float64 {
			n, err := strconv.ParseFloat(way[column], 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		const others = 40 // packets of other tests that this may have befallen
		lost, dropped := *row.UDPLossRatio*sent, counted("dropped_by_loss")+counted("dropped_by_queue")+counted("dropped_at_link")
		if lost < dropped-others || lost > dropped+1 {
			t.Errorf("%.1f datagrams lost; the router dropped %v packets", lost, dropped)
		}
		twice, copied := float64(*row.UDPDuplicates), counted("copied")
		t.Logf("lost %.1f datagrams of %v dropped packets; %v came twice of %v copied; %v reordered", lost, dropped, twice, copied, *row.UDPReordered)
		if twice < copied-others || twice > copied {
			t.Errorf("%v datagrams came twice; the router copied %v packets", twice, copied)
		}
	}
}

// checkDatagramSamples wants some of a test of a second, the last of which has all.
func checkDatagramSamples(t *testing.T, file string, sent float64) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(line []string, name string) string { return line[slices.Index(lines[0], name)] }
	var last []string
	n := 0
	for _, line := range lines[1:] {
		if column(line, "stream") == "udp" {
			last = line
			n++
		}
	}
	if n < 3 || n > 15 {
		t.Fatalf("%d samples of datagrams in a second", n)
	}
	if all, err := strconv.ParseFloat(column(last, "udp_sent"), 64); err != nil || math.Abs(all/sent-1) > .05 {
		t.Errorf("%v datagrams sent at the end, want %.0f: %v", all, sent, err)
	}
}
