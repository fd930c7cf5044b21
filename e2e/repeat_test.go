package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// TestRepeat: three regions in two rounds, through a kill in the second one.
func TestRepeat(t *testing.T) {
	t.Parallel()
	u := self(t)
	lab := u.upLab(t)
	again(t, func(try int) (wrong string) {
		os.RemoveAll(filepath.Join(u.dir, "runs"))
		s := u.start(t, "sweep", "--lab="+lab, "--regions", three, "--duration", "500ms", "--rtt-probes", "5", "--repeat", "2")
		s.waitFor(t, "round 2 row", time.Minute)
		kill(t, s.cmd.Process.Pid)
		if o := s.wait(t, killLimit/slack); o.code == 0 {
			return "the sweep was over before it was killed"
		}
		return ""
	})
	dir := u.runFolder(t)
	before := rowsSoFar(t, dir)
	o := u.run(t, 2*time.Minute, "resume", filepath.Base(dir))
	o.want(t, 0, "6 pairs, 12 rows: 12 ok", "median of 2", "nothing is left")
	rows := readRows(t, dir)
	count := map[int64]int{}
	for _, r := range rows {
		if r.Status != results.StatusOK {
			t.Errorf("%s: %s", r.Status, r.Error)
		}
		count[*r.Repetition]++
	}
	if len(before) < 7 || len(rows) != 12 || count[1] != 6 || count[2] != 6 {
		t.Errorf("%d rows before the kill, %d after: %v", len(before), len(rows), count)
	}
	first, _, _ := strings.Cut(contents(t, filepath.Join(dir, "samples.csv")), "\n")
	if !strings.HasSuffix(first, ",repetition") {
		t.Errorf("samples.csv begins with %s", first)
	}
	u.run(t, time.Minute, "resume", filepath.Base(dir)).want(t, 0, "nothing to do")
}

// TestInto: small sweeps one after the other, into one file.
func TestInto(t *testing.T) {
	t.Parallel()
	u := self(t)
	lab := u.upLab(t)
	sweep := func(regions string) outcome {
		return u.run(t, 2*time.Minute, "sweep", "--lab="+lab, "--regions", regions, "--duration", "500ms", "--rtt-probes", "5", "--into", "all.csv")
	}
	sweep(three).want(t, 0, "6 pairs: 6 ok", "nothing is left")
	sweep(four).want(t, 0, "6 directed pairs in 4 regions", "6 pairs: 6 ok", "nothing is left")
	sweep(four).want(t, 0, "all.csv has every pair of these: nothing to measure")
	file, err := results.ReadFile(filepath.Join(u.dir, "all.csv"))
	pairs, runs := map[string]bool{}, map[string]bool{}
	for _, r := range file.Rows {
		pairs[r.FromRegion+">"+r.ToRegion], runs[r.RunID] = true, true
	}
	if err != nil || len(file.Rows) != 12 || len(pairs) != 12 || len(runs) != 2 {
		t.Errorf("%d rows of %d pairs and %d runs, %v; want 12 of 12 and 2", len(file.Rows), len(pairs), len(runs), err)
	}
}
