package e2e

import (
	"encoding/csv"
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
	sent := datagramsSent(t, readFile(t, u.runFolder(t), "samples.csv"))
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
		dropped := counted("dropped_by_loss") + counted("dropped_by_queue") + counted("dropped_at_link")
		twice, copied := float64(*row.UDPDuplicates), counted("copied")
		if all := counted("packets") - copied + dropped; sent > all || sent < all-10*others {
			t.Errorf("%v datagrams sent; the router got %v packets", sent, all)
		}
		lost := *row.UDPLossRatio * sent
		if lost < dropped-others || lost > dropped+1 {
			t.Errorf("%.1f datagrams lost; the router dropped %v packets", lost, dropped)
		}
		t.Logf("lost %.1f datagrams of %v dropped packets; %v came twice of %v copied; %v reordered", lost, dropped, twice, copied, *row.UDPReordered)
		if twice < copied-others || twice > copied {
			t.Errorf("%v datagrams came twice; the router copied %v packets", twice, copied)
		}
	}
}

// datagramsSent is what the last sample of datagrams says was sent. On a computer
// that stands still meanwhile there are few samples.
func datagramsSent(t *testing.T, file string) (sent float64) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(line []string, name string) string { return line[slices.Index(lines[0], name)] }
	for _, line := range lines[1:] {
		if column(line, "stream") != "udp" {
			continue
		}
		all, err := strconv.ParseFloat(column(line, "udp_sent"), 64)
		if err != nil || all < sent {
			t.Fatalf("%v datagrams sent after %v: %v", all, sent, err)
		}
		sent = all
	}
	if sent == 0 {
		t.Fatalf("no samples of datagrams:\n%s", file)
	}
	return sent
}
