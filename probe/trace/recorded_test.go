package trace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// recording is a test between two machines of one computer of two CPUs that had
// ten times too much to do meanwhile, with what limited it in truth.
type recording struct {
	CongestionControl string `json:"congestion_control"`
	MSSBytes          int    `json:"mss_bytes"`
	Streams           int    `json:"streams"`
	From              *Host  `json:"from_host"`
	To                *Host  `json:"to_host"`
	Samples           Log    `json:"samples"`
	LimitedBy         string `json:"limited_by"`
}

// TestRecorded: over a cable without a rate the CPU is the limit ("cable"), on a
// path with a cap it is not ("capped"), though threads wait for it as long.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var r recording
			if err := json.Unmarshal(b, &r); err != nil {
				t.Fatal(err)
			}
			got := r.Samples.Limit(r.Samples.Steady(), Facts{
				CongestionControl: r.CongestionControl, MSS: r.MSSBytes, Streams: r.Streams, From: r.From, To: r.To,
			})
			if got.By != r.LimitedBy {
				t.Errorf("%s: %s; want %s", got.By, got.Evidence, r.LimitedBy)
			}
		})
	}
}
