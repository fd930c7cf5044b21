package results_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/results"
)

func TestTable(t *testing.T) {
	second := measured()
	second.Flags = results.FlagLab
	second.FromRegion, second.GoodputBps, second.RTTP50Ms = "ap-southeast-2", new(3.21e6), new(7.5)
	const want = `FROM                TO                   KM  RTT P50      GOODPUT  STATUS
aws:ap-southeast-2  gcp:europe-west3  6,533  7.50 ms  3.21 Mbit/s  ok
aws:us-east-1       gcp:europe-west3  6,533  88.4 ms  1.23 Gbit/s  ok, slow-start, time-cap
gcp:europe-west3    aws:us-east-1     6,533        -            -  failed: tcp connect: timed out, after 10 s
`
	var b strings.Builder
	if err := results.Table(&b, []results.Row{failed(), measured(), second}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTableOfRepetitions has a line for each pair: medians, and how many are not ok.
func TestTableOfRepetitions(t *testing.T) {
	var rows []results.Row
	for i, goodput := range []float64{30e6, 10e6, 20e6} {
		r := measured()
		r.GoodputBps, r.RTTP50Ms, r.Flags, r.Repetition = new(goodput), new(float64(10+i)), []string{"", "time-cap", "lab"}[i], new(int64(i+1))
		rows = append(rows, r)
	}
	other, lost := rows[0], failed()
	other.ToRegion = "europe-west4"
	lost.FromCloud, lost.FromRegion, lost.ToCloud, lost.ToRegion = other.FromCloud, other.FromRegion, other.ToCloud, other.ToRegion
	const want = `FROM              TO                   KM  RTT P50      GOODPUT  STATUS
aws:us-east-1     gcp:europe-west3  6,533  11.0 ms  20.0 Mbit/s  ok, median of 3, time-cap
aws:us-east-1     gcp:europe-west4  6,533  10.0 ms  30.0 Mbit/s  ok, median of 1, 1 are not
gcp:europe-west3  aws:us-east-1     6,533        -            -  failed (none of 2): tcp connect: timed out, after 10 s
`
	var b strings.Builder
	if err := results.Table(&b, append(rows, lost, failed(), other, failed())); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTableFits: long names take the room between the columns.
func TestTableFits(t *testing.T) {
	row := measured()
	row.Flags, row.FromCloud, row.FromRegion, row.ToCloud, row.ToRegion = "", "gcp", "southamerica-west1", "aws", "ap-southeast-2"
	row.GoodputBps = new(123.4e6)
	far := row
	far.ToCloud, far.ToRegion = "gcp", "australia-southeast1"
	var b strings.Builder
	if err := results.Table(&b, []results.Row{row, far}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 81 && !strings.HasPrefix(line, "FROM") {
			t.Errorf("%d characters: %s", len(line)-1, line)
		}
	}
}

func TestTableClipsLongReasons(t *testing.T) {
	row := failed()
	row.Error = strings.Repeat("é", 200)
	var b strings.Builder
	if err := results.Table(&b, []results.Row{row}); err != nil {
		t.Fatal(err)
	}
	if want := "failed: " + strings.Repeat("é", 71) + "…\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("%q does not end with %q", b.String(), want)
	}
}
