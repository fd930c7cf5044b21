package results_test

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/results"
)

// scan reads everything.
func scan(t *testing.T, text string) (rows []results.Row, bad []results.BadRow) {
	t.Helper()
	s, err := results.NewScanner("r.csv", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for {
		row, b, err := s.Next()
		switch {
		case err == io.EOF:
			return rows, bad
		case err != nil:
			t.Fatal(err)
		case b != nil:
			bad = append(bad, *b)
		default:
			rows = append(rows, row)
		}
	}
}

func TestScan(t *testing.T) {
	header, ok, failed := twoRows(t)
	want, err := results.ReadFile("testdata/two-rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, bad := scan(t, strings.Join([]string{header, ok, strings.Replace(ok, "88.424", "fast", 1), "a,b", failed, strings.Replace(ok, "ok", "lost", 1), ok}, "\n"))
	if diff := cmp.Diff(want.Rows, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	wantBad := []results.BadRow{
		{File: "r.csv", Line: 3, Reason: `column rtt_p50_ms: "fast" is not a plain number`},
		{File: "r.csv", Line: 4, Reason: "wrong number of fields"},
		{File: "r.csv", Line: 6, Reason: `column status: "lost" is not one of ["ok" "failed" "skipped"]`},
		{File: "r.csv", Line: 7, Reason: "the line has no end: its writer was stopped"},
	}
	for i := range bad {
		bad[i].Reason, _, _ = strings.Cut(bad[i].Reason, "; ")
	}
	if diff := cmp.Diff(wantBad, bad); diff != "" {
		t.Errorf("bad rows (-want +got):\n%s", diff)
	}
}

// broken fails in the middle of a file.
type broken struct{ r io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// TestScanAll: more lines than are read ahead come in their order, with bad ones
// in between; a file that breaks off is an error after the rows before.
func TestScanAll(t *testing.T) {
	header, ok, _ := twoRows(t)
	var text strings.Builder
	text.WriteString(header + "\n")
	const lines = 5000
	for i := range lines {
		if i%100 == 7 {
			text.WriteString("a,b\n")
		}
		text.WriteString(strings.Replace(ok, "88.424", fmt.Sprintf("88.4%02d", i%50+10), 1) + "\n")
	}
	var got []results.Row
	var bad []int
	row, badRow := func(r results.Row) { got = append(got, r) }, func(b results.BadRow) { bad = append(bad, b.Line) }
	if err := results.ScanAll("r.csv", strings.NewReader(text.String()), row, badRow); err != nil {
		t.Fatal(err)
	}
	if len(got) != lines || len(bad) != 50 || bad[0] != 9 || bad[1] != 110 {
		t.Fatalf("%d rows, %d bad: %v", len(got), len(bad), bad[:2])
	}
	for i, r := range got {
		if want := 88.4 + float64(i%50+10)/1000; math.Abs(*r.RTTP50Ms-want) > 1e-9 {
			t.Fatalf("row %d has %v, want %v", i, *r.RTTP50Ms, want)
		}
	}
	got, bad = nil, nil
	if err := results.ScanAll("r.csv", broken{strings.NewReader(text.String())}, row, badRow); err != io.ErrUnexpectedEOF || len(got) != lines {
		t.Errorf("%v after %d rows, want io.ErrUnexpectedEOF after %d", err, len(got), lines)
	}
	if err := results.ScanAll("r.csv", strings.NewReader("a,b\n"), row, badRow); err == nil {
		t.Error("another header was taken")
	}
}

func TestScanRefusesOtherHeaders(t *testing.T) {
	for text, want := range map[string]string{"": "r.csv: no header", strings.Join(results.Columns(), ","): "r.csv: no header", "a,b\n": `r.csv:1: column 1 is "a", want "run_id"`} {
		if _, err := results.NewScanner("r.csv", strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("NewScanner of %q = %v, want %s", text, err, want)
		}
	}
}

// FuzzScan: a file that Read takes is read the same by a Scanner, and one that
// it refuses has a bad row.
func FuzzScan(f *testing.F) {
	header, ok, failed := twoRows(f)
	f.Add(header + "\n" + ok + "\n" + failed + "\n")
	f.Add(header + "\n" + ok + "\n" + strings.Replace(ok, "88.424", "088", 1) + "\n")
	f.Add(header + "\n" + ok)
	f.Fuzz(func(t *testing.T, text string) {
		want, refused := results.Read("r.csv", strings.NewReader(text))
		s, err := results.NewScanner("r.csv", strings.NewReader(text))
		if err != nil {
			if refused == nil {
				t.Fatalf("NewScanner: %v, but Read took it", err)
			}
			return
		}
		var rows []results.Row
		bad := 0
		for {
			row, b, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if b != nil {
				bad++
				continue
			}
			rows = append(rows, row)
		}
		var all []results.Row
		bads := 0
		err = results.ScanAll("r.csv", strings.NewReader(text), func(r results.Row) { all = append(all, r) }, func(results.BadRow) { bads++ })
		if diff := cmp.Diff(rows, all); diff != "" || bads != bad || err != nil {
			t.Errorf("ScanAll: %v, %d bad rows, want %d (-scanned +all):\n%s", err, bads, bad, diff)
		}
		if refused != nil {
			if bad == 0 {
				t.Errorf("Read: %v, but no row is bad", refused)
			}
			return
		}
		if diff := cmp.Diff(want.Rows, rows); diff != "" {
			t.Errorf("(-read +scanned):\n%s", diff)
		}
	})
}
