package results_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/results"
)

// twoRows is the text of the golden file: header, a measured row, a failed one.
func twoRows(t testing.TB) (header, ok, failed string) {
	t.Helper()
	data, err := os.ReadFile("testdata/two-rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	return lines[0], lines[1], lines[2]
}

func TestReadRefuses(t *testing.T) {
	header, ok, failed := twoRows(t)
	with := func(old, new string) string { return header + "\n" + strings.Replace(ok, old, new, 1) + "\n" }
	for name, c := range map[string]struct{ text, want string }{
		"empty":           {"", "r.csv: no header"},
		"missing column":  {strings.Join(strings.Split(header, ",")[:32], ",") + "\n", "r.csv:1: column flags is missing"},
		"swapped columns": {strings.Replace(header, "run_id,timestamp", "timestamp,run_id", 1) + "\n", `r.csv:1: column 1 is "timestamp", want "run_id"`},
		"short row":       {header + "\na,b\n", "r.csv:2: wrong number of fields"},
		"stray quote":     {with("t3.nano", `t3"nano`), `r.csv:2: bare " in non-quoted-field`},
		"text":            {with("88.424", "fast"), `r.csv:2: column rtt_p50_ms: "fast" is not a plain number`},
		"NaN":             {with("88.424", "NaN"), `r.csv:2: column rtt_p50_ms: "NaN" is not a plain number`},
		"comma":           {with("88.424", `"88,424"`), `r.csv:2: column rtt_p50_ms: "88,424" is not a plain number`},
		"exponent":        {with("1230000000", "1.23e9"), `r.csv:2: column goodput_bps: "1.23e9" is not a plain number`},
		"octal":           {with("1448", "01448"), `r.csv:2: column mss_bytes: "01448" is not a plain number`},
		"fraction":        {with("1448", "1448.5"), `r.csv:2: column mss_bytes: "1448.5" is not a plain number`},
		"negative":        {with("1448", "-1448"), `r.csv:2: column mss_bytes: "-1448" is not a plain number`},
		"too large": {with("1448", "9223372036854775808"),
			`r.csv:2: column mss_bytes: strconv.ParseInt: parsing "9223372036854775808": value out of range`},
		"second row":    {header + "\n" + ok + "\n" + strings.Replace(failed, "failed", "lost", 1) + "\n", `r.csv:3: column status: "lost" is not one of ["ok" "failed" "skipped"]`},
		"two faults":    {with("slow-start;", "Slow;"), `r.csv:2: column flags: bad value "Slow;time-cap"`},
		"line in a row": {header + "\n" + ok + "\n" + strings.Replace(ok, "t3.nano", "\"t3\nnano\"", 1) + "\n", `r.csv:3: column from_machine: bad value "t3\nnano"`},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := results.Read("r.csv", strings.NewReader(c.text))
			if err == nil {
				t.Fatalf("read %d rows, want an error", len(f.Rows))
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Files of earlier versions have fewer columns on the right.
func TestReadEarlierVersions(t *testing.T) {
	header, ok, _ := twoRows(t)
	whole, err := results.Read("r.csv", strings.NewReader(header+"\n"+ok+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Split(header, ",")
	cells, err := csv.NewReader(strings.NewReader(ok)).Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{33, slices.Index(names, "udp_target_bps"), slices.Index(names, "stopped_by")} {
		var text strings.Builder
		w := csv.NewWriter(&text)
		w.WriteAll([][]string{append(names[:n:n], "note"), append(cells[:n:n], "mine")})
		f, err := results.Read("r.csv", strings.NewReader(text.String()))
		if err != nil {
			t.Fatalf("%d columns: %v", n, err)
		}
		if got, want := f.Rows[0].Flags, whole.Rows[0].Flags; got != want || *f.Rows[0].GoodputBps != *whole.Rows[0].GoodputBps {
			t.Errorf("%d columns: %+v", n, f.Rows[0])
		}
		if diff := cmp.Diff([]string{"note"}, f.Extra); diff != "" {
			t.Errorf("%d columns: extra (-want +got):\n%s", n, diff)
		}
	}
}

func TestReadTellsOfExtraColumns(t *testing.T) {
	header, ok, _ := twoRows(t)
	f, err := results.Read("r.csv", strings.NewReader(header+",jitter_ms,note\n"+ok+",0.2,hello\n"))
	if err != nil || len(f.Rows) != 1 {
		t.Fatalf("%d rows, %v", len(f.Rows), err)
	}
	if diff := cmp.Diff([]string{"jitter_ms", "note"}, f.Extra); diff != "" {
		t.Errorf("Extra (-want +got):\n%s", diff)
	}
}

func TestReadTellsOfATornLine(t *testing.T) {
	header, ok, failed := twoRows(t)
	f, err := results.Read("r.csv", strings.NewReader(header+"\n"+ok+"\n"+failed[:60]))
	if err != nil || len(f.Rows) != 1 || f.Torn != failed[:60] {
		t.Errorf("%d rows, torn %q, %v", len(f.Rows), f.Torn, err)
	}
}

func TestReadFileNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.csv")
	if _, err := results.ReadFile(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("err = %v, want the path in it", err)
	}
}

// Whatever is read is valid, and is the same when written and read again.
func FuzzRead(f *testing.F) {
	header, ok, failed := twoRows(f)
	f.Add(header + "\n" + ok + "\n" + failed + "\n")
	f.Add(header + ",extra\r\n" + ok + ",1\r\n")
	f.Add(header + "\n" + strings.Repeat(",", 32) + "\n")
	f.Add(header + "\n\n\"")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		file, err := results.Read("fuzz", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error does not say where, or takes several lines: %q", err)
			}
			return
		}
		path := filepath.Join(dir, "again.csv")
		os.Remove(path)
		w, err := results.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		for _, r := range file.Rows {
			if err := w.Write(r); err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
		}
		if again, err := results.ReadFile(path); err != nil || len(again.Rows) != len(file.Rows) {
			t.Fatalf("%d rows, %d when read again, %v", len(file.Rows), len(again.Rows), err)
		}
	})
}
