package orchestrator

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/prices"
	"github.com/antipode-bench/antipode/providers"
)

// sentBy is what a throughput test of a planet sends, with headers and repeats,
// and what comes back to acknowledge it; and a round trip's either way.
func sentBy() (forth, back, probes float64) {
	payload := 1e9 / .99
	segments := math.Ceil(payload / 1448)
	return payload + segments*52, segments / 2 * 52, 20 * 92
}

// TestUsed: machines from launch to teardown, every byte, at the table's prices,
// in the summary and in run.json.
func TestUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		cfg := p.config(4)
		cfg.Rates = plan.Rates{Table: prices.Default()}
		cfg.Estimate = &Estimate{USD: 7}
		d := p.run(t.Context(), cfg)
		hours := 4 * max(time.Minute, d.lasted).Hours() // a minute is charged at least
		if got := d.Used.MachineHours; math.Abs(got-hours) > 1e-6 {
			t.Errorf("%v machine hours, want %v", got, hours)
		}
		forth, back, probes := sentBy()
		// A round trip is measured once for both directions, each with probes of its own.
		each := forth + back + 2*probes
		for pair, bytes := range d.Used.ByPair {
			if math.Abs(bytes-each) > 1 {
				t.Errorf("%s sent %v bytes, want %v", pair, bytes, each)
			}
		}
		if got := d.Used.Bytes; len(d.Used.ByPair) != 12 || math.Abs(got-12*each) > 12 {
			t.Errorf("%v bytes of %d pairs, want %v of 12", got, len(d.Used.ByPair), 12*each)
		}
		want := 0.0
		for _, r := range plan.RegionsOf(cfg.Pairs) {
			want += cfg.Rates.HourUSD(r, cfg.MachineTypes[r.Cloud]) * hours / 4
		}
		for _, pair := range cfg.Pairs {
			want += cfg.Rates.SentUSD(pair, each)
		}
		if got := d.Used.USD; math.Abs(got-want) > 1e-6 || math.Abs(d.Used.Parts.USD()-got) > 1e-9 {
			t.Errorf("%v USD, want %v", got, want)
		}
		checkKept(t, p.dir, d.Used.USD)
	})
}

func checkKept(t *testing.T, dir string, usd float64) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, manifestFile))
	var m Manifest
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil || m.Used == nil || m.Used.USD != usd || m.Reached == nil || m.Reached.MakespanS < m.Reached.BoundS || m.Reached.BoundS == 0 || m.Estimate == nil || m.Estimate.USD != 7 {
		t.Errorf("run.json: %v, used %+v, estimate %+v", err, m.Used, m.Estimate)
	}
}

// TestUsedBeforeAKill counts too: the machines' life goes on, and no byte is lost.
func TestUsedBeforeAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t).killed(4, pairs(5))
		time.Sleep(time.Hour)
		s, err := p.resume(nil)
		forth, back, _ := sentBy()
		least := 11*(forth+back) + 1e9 // the last row was written, its record was not
		if err != nil || s.Used.Bytes < least || s.Used.Bytes > least*1.5 || len(s.Used.ByPair) != 12 {
			t.Errorf("%v, %v bytes of %d pairs, want %v or a test or two more", err, s.Used.Bytes, len(s.Used.ByPair), least)
		}
		if got := s.Used.MachineHours; got < 4 || got > 4.2 {
			t.Errorf("%v machine hours, want a little more than 4", got)
		}
	})
}

// TestLedger: what came to nothing costs nothing, what may be there costs.
func TestLedger(t *testing.T) {
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	launch := Record{Time: at, What: RecordLaunch, Region: "aws:us-east-1", MachineType: "t3.nano"}
	made := Record{Time: at, What: RecordLaunched, Region: "aws:us-east-1", Machine: &providers.Machine{ID: "i-1", Type: "t3.small"}}
	lost := Record{Time: at, What: RecordLost, Region: "aws:us-east-1", Error: "x"}
	gone := Record{Time: at.Add(time.Hour), What: RecordDestroyed, Cloud: "aws"}
	left := Record{Time: at.Add(time.Hour), What: RecordDestroyed, Cloud: "aws", Error: "unknown"}
	lent := Record{Time: at, What: RecordLaunched, Region: "aws:us-east-1", Machine: &providers.Machine{ID: "i-1", Lent: true}}
	for name, tt := range map[string]struct {
		records []Record
		want    float64 // hours, two after the beginning
	}{
		"nothing":            {nil, 0},
		"never made":         {[]Record{launch, lost}, 0},
		"made and lost":      {[]Record{launch, made, lost, gone}, 1},
		"launched twice":     {[]Record{launch, made, launch, made, gone}, 1},
		"may be there":       {[]Record{launch}, 2},
		"teardown failed":    {[]Record{launch, made, left}, 2},
		"in another cloud":   {[]Record{launch, made, {Time: at, What: RecordDestroyed, Cloud: "gcp"}}, 2},
		"two batches":        {[]Record{launch, made, gone, {Time: gone.Time, What: RecordLaunch, Region: "aws:us-east-1"}}, 2},
		"a minute at least":  {[]Record{launch, made, {Time: at.Add(time.Second), What: RecordDestroyed, Cloud: "aws"}}, 1. / 60},
		"already the user's": {[]Record{launch, lent, gone}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger(plan.Rates{Table: prices.Default()}, nil)
			for _, r := range tt.records {
				l.enter(r)
			}
			if got := l.usage(at.Add(2 * time.Hour)).MachineHours; math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("%v hours, want %v", got, tt.want)
			}
		})
	}
}
