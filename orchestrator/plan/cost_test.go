package plan

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/prices"
)

func TestPrice(t *testing.T) {
	table, err := prices.Parse("p.yaml", []byte(`
machines: [{cloud: aws, type: t3.nano, usd_per_hour: 1}, {cloud: gcp, type: e2-small, usd_per_hour: 2}]
disks: [{cloud: aws, gib: 720, usd_per_gib_month: 0.1}, {cloud: gcp, gib: 720, usd_per_gib_month: 0.2}]
addresses: [{cloud: aws, usd_per_hour: 0.01}, {cloud: gcp, usd_per_hour: 0.02}]
`))
	if err != nil {
		t.Fatal(err)
	}
	_, pairs, err := Select(antipode.Regions(), Wishes{Pairs: []string{"us-east-1>us-east4", "us-east4>us-east-1", "ap-east-2>us-east-1"}})
	if err != nil {
		t.Fatal(err)
	}
	use := Use{
		MachineTypes: map[string]string{"aws": "t3.nano", "gcp": "e2-small"},
		Life:         func(batch []Pair) time.Duration { return time.Duration(len(batch)) * time.Hour },
		Bytes: func(p Pair) float64 {
			if p.From.Cloud == "gcp" {
				return prices.GiB
			}
			return prices.GB
		},
	}
	// Two hours of a machine on each cloud, then an hour of two on AWS.
	got := Price(Rates{Table: table}, [][]Pair{pairs[:2], pairs[2:]}, use)
	want := Cost{
		Parts:   Parts{Machines: 2*1 + 2*2 + 2, Disks: 2*.1 + 2*.2 + 2*.1, Addresses: 2*.01 + 2*.02 + 2*.01, Egress: .09 + .12 + .147},
		Unknown: []string{"data from aws:ap-east-2 to other regions"},
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if usd := got.USD(); math.Abs(usd-9.237) > 1e-9 {
		t.Errorf("%v USD in all, want 9.237", usd)
	}
}

// TestRates: an hour and a byte, as a budget counts them; without a table free.
func TestRates(t *testing.T) {
	_, pairs, err := Select(antipode.Regions(), Wishes{Pairs: []string{"us-east-1>us-east4"}})
	if err != nil {
		t.Fatal(err)
	}
	rates := Rates{Table: prices.Default()}
	if got, want := rates.SentUSD(pairs[0], 10*prices.GB), .9; math.Abs(got-want) > 1e-9 {
		t.Errorf("10 GB cost %v USD, want %v", got, want)
	}
	hour := rates.HourUSD(pairs[0].From, "t3.nano")
	if machine := rates.Table.Machine(pairs[0].From, "t3.nano").Of(1); hour <= machine+.005 {
		t.Errorf("an hour costs %v USD, of which the machine alone %v: disk and address are missing", hour, machine)
	}
	if got := (Rates{}).HourUSD(pairs[0].From, "t3.nano") + (Rates{}).SentUSD(pairs[0], 1e9); got != 0 {
		t.Errorf("without a table %v USD, want 0", got)
	}
}
