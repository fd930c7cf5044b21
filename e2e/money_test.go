package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// freeMachines leave only data to be paid for, so that the budget's end is not a
// matter of this computer's speed.
const freeMachines = `
machines: [{cloud: aws, type: t3.nano, usd_per_hour: 0}, {cloud: gcp, type: e2-small, usd_per_hour: 0}]
disks: [{cloud: aws, gib: 8, usd_per_gib_month: 0}, {cloud: gcp, gib: 10, usd_per_gib_month: 0}]
addresses: [{cloud: aws, usd_per_hour: 0}, {cloud: gcp, usd_per_hour: 0}]
`

// TestBudget: a budget of just what the payload costs has no room for its headers
// and repeats, so that the last tests are not begun. What was measured is there,
// and counted as the lab's router counted it.
func TestBudget(t *testing.T) {
	t.Parallel()
	u := self(t)
	prices := filepath.Join(u.dir, "prices.yaml")
	if err := os.WriteFile(prices, []byte(freeMachines), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"--lab", "--regions", four, "--stop", "bytes", "--bytes", "5MB", "--rtt-probes", "5", "--prices", prices}
	var plan struct{ USD, Bytes float64 }
	if err := json.Unmarshal([]byte(u.run(t, time.Minute, append([]string{"plan", "--json"}, args...)...).stdout), &plan); err != nil {
		t.Fatal(err)
	}
	budget := fmt.Sprint(plan.USD * 1.0001)
	o := u.run(t, 2*time.Minute, append([]string{"sweep", "--budget-usd", budget}, args...)...)
	o.want(t, 5, "12 directed pairs in 4 regions", "about 60.0 MB sent", "has no room for more", "what was measured is kept", "nothing is left", "estimated were")
	dir := u.runFolder(t)
	count := map[string]int{}
	for _, r := range readRows(t, dir) {
		count[r.Status]++
		if r.Status == results.StatusSkipped && !strings.Contains(r.Error, "the budget of") {
			t.Errorf("skipped: %s", r.Error)
		}
	}
	if count[results.StatusOK] < 8 || count[results.StatusSkipped] < 1 || count[results.StatusOK]+count[results.StatusSkipped] != 12 {
		t.Errorf("rows: %v", count)
	}
	var run struct {
		Estimate struct{ USD float64 }
		Used     struct {
			USD    float64
			ByPair map[string]float64 `json:"bytes_by_pair"`
		}
	}
	if err := json.Unmarshal([]byte(contents(t, filepath.Join(dir, "run.json"))), &run); err != nil {
		t.Fatal(err)
	}
	if used := run.Used.USD; run.Estimate.USD != plan.USD || used > plan.USD*1.0001 || used < plan.USD/2 {
		t.Errorf("used %v USD, estimated %v", used, run.Estimate.USD)
	}
	delivered := readTable(t, filepath.Join(dir, "delivered.csv"))
	for _, r := range readRows(t, dir) {
		if r.Status != results.StatusOK {
			continue
		}
		pair := fmt.Sprintf("%s:%s>%s:%s", r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion)
		counted, lost := delivered.number(t, r, "bytes"), 0.0
		for _, where := range []string{"queue", "policer", "loss"} {
			lost += 1500 * delivered.number(t, r, "dropped_by_"+where) // sent, and charged for, all the same
		}
		if got := run.Used.ByPair[pair]; got < counted*.95 || got > (counted+lost)*1.05+50e3 {
			t.Errorf("%s: %.0f bytes counted as sent; the router delivered %.0f and dropped %.0f", pair, got, counted, lost)
		}
	}
	left := u.run(t, time.Minute, "resume", filepath.Base(dir))
	left.want(t, 0, "nothing to do", "nothing is left")
}

// TestBudgetRefused: nothing is created, not even the run's folder.
func TestBudgetRefused(t *testing.T) {
	t.Parallel()
	u := self(t)
	o := u.run(t, time.Minute, "sweep", "--lab", "--regions", four, "--budget-usd", "0.0001")
	o.want(t, 5, "--budget-usd 0.0001: the plan is estimated at", "nothing is created")
	if runs, err := filepath.Glob(filepath.Join(u.dir, "runs", "*")); err != nil || len(runs) > 0 {
		t.Errorf("%v, %v", runs, err)
	}
}
