package e2e

import (
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/results"
)

const wideWay = `
controller: {delay_ms: 0.5}
regions:
- {id: aws:us-east-1, latitude: 39.04, longitude: -77.49, egress_bps: 50000000, ingress_bps: 50000000}
- {id: gcp:us-east4, latitude: 39.03, longitude: -77.47, egress_bps: 50000000, ingress_bps: 50000000}
pairs:
- {from: aws:us-east-1, to: gcp:us-east4, delay_ms: 5}
- {from: gcp:us-east4, to: aws:us-east-1, delay_ms: 5}
`

var tunedWindow = regexp.MustCompile(`net\.ipv4\.tcp_rmem=\d+,\d+,134217728(;|$)`)

// TestSockets asks for all that a sweep can shape, on both directions at once,
// and holds the rows to it.
func TestSockets(t *testing.T) {
	u := self(t)
	world := filepath.Join(u.dir, "world.yaml")
	write(t, world, wideWay)
	o := u.run(t, time.Minute, "sweep", "--lab", "--yes", "--lab-world", world, "--regions", "aws:us-east-1,gcp:us-east4",
		"--bidirectional", "--duration", "1s", "--rtt-probes", "3", "--streams", "2", "--probe-port", "9000", "--client-port", "40000",
		"--send-buffer", "1MiB", "--receive-window", "256KiB", "--mss", "1000", "--no-delay", "--dscp", "46", "--pacing", "20M", "--tune")
	o.want(t, 0, "2 pairs: 2 ok", "bidirectional", "nothing is left")
	file, err := results.ReadFile(filepath.Join(u.runFolder(t), "results.csv"))
	if err != nil || len(file.Rows) != 2 {
		t.Fatalf("%d rows, %v", len(file.Rows), err)
	}
	for _, r := range file.Rows {
		if !r.HasFlag(results.FlagBidirectional) || *r.Streams != 2 || *r.MSSBytes > 1000 || *r.MSSBytes < 900 ||
			r.NoDelay != "true" || *r.DSCP != 46 || *r.PacingBps != 20e6 || *r.ClientPort != 40000 || r.RateBps != nil {
			t.Errorf("%+v", r)
		}
		if *r.SendBufferBytes < 64<<10 || *r.ReceiveWindowBytes > 256<<10 || *r.ReceiveWindowBytes < 64<<10 {
			t.Errorf("send buffer of %d bytes, window of %d", *r.SendBufferBytes, *r.ReceiveWindowBytes)
		}
		if !tunedWindow.MatchString(r.FromTuned) || !tunedWindow.MatchString(r.ToTuned) {
			t.Errorf("tuned: %q, %q", r.FromTuned, r.ToTuned)
		}
		if *r.GoodputBps > 22e6 {
			t.Errorf("%v bit/s, paced to 20 Mbit/s", *r.GoodputBps)
		}
	}
}
