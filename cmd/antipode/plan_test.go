package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// planOf is what `antipode plan args` prints.
func planOf(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetArgs(append([]string{"plan"}, args...))
	err := root.Execute()
	return out.String(), err
}

func forecastOf(t *testing.T, args ...string) (f forecast) {
	t.Helper()
	out, err := planOf(t, append(args, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), &f); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	return f
}

func TestPlanOfAll(t *testing.T) {
	f := forecastOf(t, "--bytes", "10MB", "--stop", "bytes")
	if f.Regions != 77 || f.Pairs != 5852 || f.Batches != 1 || f.Machines != 77 || f.Bytes != 5852*10e6 {
		t.Errorf("%+v", f)
	}
	if !(f.BoundS > 0 && f.ExpectedS >= f.BoundS) {
		t.Errorf("expected %v s, bound %v s", f.ExpectedS, f.BoundS)
	}
	p := f.Parts
	if sum := p.Machines + p.Disks + p.Addresses + p.Egress; math.Abs(sum-f.USD) > 1e-9 || min(p.Machines, p.Disks, p.Addresses, p.Egress) <= 0 {
		t.Errorf("%v USD, of %+v", f.USD, p)
	}
	if !strings.Contains(strings.Join(f.Unknown, "\n"), "data from aws:ap-east-2 to the internet") {
		t.Errorf("unknown are %q", f.Unknown)
	}
}

// TestPlanOfTwo: 100 MB at 0.09 USD a GB, and 100 MB at 0.12 a GiB.
func TestPlanOfTwo(t *testing.T) {
	args := []string{"--regions", "aws:us-east-1,gcp:us-east4", "--stop", "bytes", "--bytes", "100MB"}
	want := .1*.09 + .1e9/(1<<30)*.12
	if f := forecastOf(t, args...); math.Abs(f.Parts.Egress-want) > 1e-9 {
		t.Errorf("egress %v USD, want %v", f.Parts.Egress, want)
	}
	text, err := planOf(t, args...)
	for _, want := range []string{"2 directed pairs in 2 regions", "about 200 MB sent", "data sent 0.0202", "counted at the upper bound: "} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%v, %q is not in\n%s", err, want, text)
		}
	}
}

func TestPlanPrices(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte("aws_egress: [{region: us-east-1, to_aws: 0, to_internet: 1}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := forecastOf(t, "--pairs", "aws:us-east-1>gcp:us-east4", "--stop", "bytes", "--bytes", "1GB", "--prices", file)
	if f.Parts.Egress != 1 {
		t.Errorf("egress %v USD, want 1", f.Parts.Egress)
	}
}

func TestPlanBatches(t *testing.T) {
	f := forecastOf(t, "--clouds", "gcp", "--batch-size", "12")
	if f.Batches < 15 || f.Batches > 22 || f.Machines < 43 || f.Machines > 12*f.Batches {
		t.Errorf("%+v", f)
	}
	if one := forecastOf(t, "--clouds", "gcp", "--batch-size", "43"); one.Batches != 1 {
		t.Errorf("all at once in %d batches", one.Batches)
	}
}

// TestPlanMaxBatches: what is left out is said, and neither counted nor paid for.
func TestPlanMaxBatches(t *testing.T) {
	args := []string{"--clouds", "gcp", "--batch-size", "12", "--bytes", "10MB", "--stop", "bytes"}
	all, some := forecastOf(t, args...), forecastOf(t, append(args, "--max-batches", "3")...)
	if some.Batches != 3 || some.Pairs+some.LeftOut != all.Pairs || some.Pairs < 3*100 || some.Bytes != float64(some.Pairs)*10e6 || some.USD >= all.USD || len(some.Names) != some.LeftOut {
		t.Errorf("%+v", some)
	}
	rest := forecastOf(t, "--pairs", strings.Join(some.Names, ","))
	if rest.Pairs != some.LeftOut {
		t.Errorf("%d pairs are named, %d left out", rest.Pairs, some.LeftOut)
	}
	text, err := planOf(t, append(args, "--max-batches", "3")...)
	if want := fmt.Sprintf("%d pairs left out by --max-batches", some.LeftOut); err != nil || !strings.Contains(text, want) || !strings.Contains(text, "--into FILE leaves those to another sweep") {
		t.Errorf("%v, %q is not in\n%s", err, want, text)
	}
}

func TestPlanOnTheLab(t *testing.T) {
	on, off := forecastOf(t, "--lab", "--max-regions", "6"), forecastOf(t, "--max-regions", "6")
	if diff := cmp.Diff(off, on); diff != "" || on.USD == 0 || on.Regions != 6 {
		t.Errorf("on the lab (-clouds +lab):\n%s", diff)
	}
	text, err := planOf(t, "--lab", "--max-regions", "6")
	if want := "the lab charges nothing"; err != nil || !strings.Contains(text, want) {
		t.Errorf("%v, %q is not in\n%s", err, want, text)
	}
}

// TestPlanIsolation: 6 regions meet in 5 rounds of round trips; then a machine has
// 5 tests each way, 10 in all, or all at once.
func TestPlanIsolation(t *testing.T) {
	for isolation, tests := range map[string]float64{"duplex": 5, "host": 10, "none": 1} {
		args := []string{"--max-regions", "6", "--stop", "duration", "--duration", "9s", "--rtt-probes", "100", "--rtt-interval", "10ms", "--isolation", isolation}
		if f, want := forecastOf(t, args...), 5*2+10*tests; f.BoundS != want {
			t.Errorf("%s: %v s at least, want %v", isolation, f.BoundS, want)
		}
	}
}

// TestPlanBudget: a plan that is over is refused, and what the message says would
// fit does.
func TestPlanBudget(t *testing.T) {
	args := []string{"--clouds", "gcp", "--bytes", "100MB", "--stop", "bytes"}
	text, err := planOf(t, append(args, "--budget-usd", "7")...)
	var exit *exitError
	if !errors.As(err, &exit) || exit.code != exitRefused || !strings.Contains(text, "1806 directed pairs") {
		t.Fatalf("%v, want exit code %d, after\n%s", err, exitRefused, text)
	}
	const form = `--budget-usd 7.00: the plan is estimated at ([0-9.]+) USD, so nothing is created; what would fit: --max-regions ([0-9]+) \(([0-9.]+) USD\), or --bytes ([0-9.]+[kM]B)$`
	found := regexp.MustCompile(form).FindStringSubmatch(err.Error())
	if found == nil {
		t.Fatalf("%v, want %s", err, form)
	}
	for flag, value := range map[string]string{"--max-regions": found[2], "--bytes": found[4]} {
		if f := forecastOf(t, append(args, "--budget-usd", "7", flag, value)...); f.USD < 5 || f.BudgetUSD != 7 {
			t.Errorf("%s %s: %v USD, want nearly 7", flag, value, f.USD)
		}
	}
	if _, err := planOf(t, "--pairs", "aws:us-east-1>gcp:us-east4", "--budget-usd", "1e-9"); err == nil || !strings.HasSuffix(err.Error(), "nothing smaller would fit either") {
		t.Errorf("%v", err)
	}
}

func TestPlanRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"batch of one":     {[]string{"--batch-size", "1"}, "--batch-size 1: a pair needs two regions"},
		"negative batch":   {[]string{"--batch-size", "-3"}, "--batch-size -3: a pair needs two regions"},
		"no prices":        {[]string{"--prices", "/nowhere/p.yaml"}, "--prices: load prices: open /nowhere/p.yaml"},
		"no batches":       {[]string{"--max-batches", "-1"}, "--max-batches -1: not a number of batches, 1 or more"},
		"half a batch":     {[]string{"--max-batches", "0.5"}, "--max-batches"},
		"debts":            {[]string{"--budget-usd", "-1"}, "--budget-usd -1: not an amount of US dollars above zero, such as 2.50"},
		"no amount":        {[]string{"--budget-usd", "NaN"}, "--budget-usd NaN: not an amount"},
		"no end of money":  {[]string{"--budget-usd", "Inf"}, "--budget-usd +Inf: not an amount"},
		"in words":         {[]string{"--budget-usd", "two"}, "--budget-usd"},
		"continent":        {[]string{"--continents", "atlantis"}, "--continents atlantis: unknown continent"},
		"exclusion":        {[]string{"--exclude", "us-esat-1"}, "--exclude us-esat-1: unknown region; the nearest name is aws:us-east-1"},
		"one way of pairs": {[]string{"--pairs", "aws:us-east-1>gcp:us-east4", "--one-way"}, "can't go with --one-way"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := planOf(t, tt.args...)
			var exit *exitError
			if !errors.As(err, &exit) || exit.code != exitUsage || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want exit code %d and %q", err, exitUsage, tt.want)
			}
		})
	}
}
