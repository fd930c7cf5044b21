package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/providers"
)

// ill is a preflight with a bit of everything.
func ill() preflight {
	skip := providers.Finding{Verdict: providers.VerdictSkip, Reason: "RunInstances: not for you"}
	p := preflight{
		{Cloud: "aws", Account: "42"},
		{Cloud: "gcp", Account: "p1", Allowances: []providers.Allowance{{Name: "CPUS_ALL_REGIONS", Limit: 8, Used: 2, Machine: 2}},
			Findings: []providers.Finding{{Verdict: providers.VerdictWarn, Reason: "OS Login is on"}},
			Regions: []providers.RegionPreflight{{Region: "us-west1", MachineType: "e2-small", Zones: []string{"us-west1-a", "us-west1-b"},
				Allowances: []providers.Allowance{{Name: "CPUS", Limit: 8, Used: 2, Machine: 2}}}}},
		{Cloud: "hosts", Regions: []providers.RegionPreflight{{Region: "attic"}}},
	}
	for n := range 7 {
		p[0].Regions = append(p[0].Regions, providers.RegionPreflight{Region: fmt.Sprint("r", n), Findings: []providers.Finding{skip}})
	}
	p[0].Regions[6].Findings = []providers.Finding{{Verdict: providers.VerdictWarn, Reason: "not checked: x"}}
	return p
}

func TestTellPreflight(t *testing.T) {
	var b strings.Builder
	ill().tell(&b)
	want := `preflight: aws:r0, aws:r1, aws:r2, aws:r3, aws:r4 and 1 more skipped: RunInstances: not for you
preflight: aws:r6: not checked: x
preflight: gcp: OS Login is on
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestRoomForFewer: a quota with room for fewer machines than regions is told,
// and is a limit.
func TestRoomForFewer(t *testing.T) {
	p := ill()[1:2]
	p[0].Allowances[0].Limit = 3
	p[0].Regions = append(p[0].Regions, providers.RegionPreflight{Region: "us-east1"}, providers.RegionPreflight{Region: "me-west1"})
	p[0].Allowances[0].Used = 0
	if diff := cmp.Diff(map[string]int{"gcp": 1}, p.atOnce()); diff != "" {
		t.Error(diff)
	}
	var b strings.Builder
	p.tell(&b)
	if want := "preflight: gcp: quota CPUS_ALL_REGIONS: 0 of 3 used, room for 1 machine at a time: measured in batches\n"; !strings.Contains(b.String(), want) {
		t.Errorf("%s\nlacks %s", b.String(), want)
	}
	b.Reset()
	if err := p.diagnose(&b); err != nil || !strings.Contains(b.String(), "room for 1 machine at a time: a sweep measures in batches\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestDiagnose(t *testing.T) {
	var b strings.Builder
	p := ill()
	p[0].Regions = p[0].Regions[5:]
	err := p.diagnose(&b)
	if exitCode(err) != exitRefused || err.Error() != "1 of 4 regions can't take part" {
		t.Errorf("diagnose = %v", err)
	}
	want := `aws: account 42
gcp: account p1
gcp: CPUS_ALL_REGIONS: 2 of 8 used, room for 3 machines
gcp: warn: OS Login is on
hosts: machines you already have are asked nothing

REGION        VERDICT  MACHINE   ZONES  TIGHTEST QUOTA     REASON
aws:r5        skip     -         -      unknown            RunInstances: not for you
aws:r6        warn     -         -      unknown            not checked: x
gcp:us-west1  go       e2-small  a b    CPUS: 2 of 8 used
hosts:attic   go       -         -      unknown
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	p[0].Regions = p[0].Regions[1:]
	if err := p.diagnose(&b); err != nil {
		t.Errorf("with all regions open, diagnose = %v", err)
	}
}
