package fault

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/antipode-bench/antipode/lab/vm"
)

func TestYAML(t *testing.T) {
	const file = `
calls:
  - {cloud: aws, region: eu-west-1, call: RunInstances, kind: capacity, count: 1}
  - {kind: silent}
machines:
  - {cloud: gcp, zone: us-east1-b, never_boot: true}
  - {region: eu-west-1, boot_delay_s: 2.5}
opted_out: [af-south-1]
quotas:
  - {cloud: aws, region: eu-west-1, quota: L-1216C47A, limit: 4}
  - {quota: N2_CPUS, limit: 0}
project: {api_disabled: true, metadata: {enable-oslogin: "TRUE"}, policies: [compute.requireOsLogin]}
`
	var got Faults
	dec := yaml.NewDecoder(strings.NewReader(file))
	dec.KnownFields(true)
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := Faults{
		Calls: []Call{
			{Place: Place{Cloud: "aws", Region: "eu-west-1"}, Call: "RunInstances", Kind: Capacity, Count: 1},
			{Kind: Silent},
		},
		Machines: []Machine{
			{Place: Place{Cloud: "gcp", Zone: "us-east1-b"}, NeverBoot: true},
			{Place: Place{Region: "eu-west-1"}, BootDelayS: 2.5},
		},
		OptedOut: []string{"af-south-1"},
		Quotas: []Allowance{
			{Place: Place{Cloud: "aws", Region: "eu-west-1"}, Quota: StandardVCPUs, Limit: 4},
			{Quota: "N2_CPUS"},
		},
		Project: Project{APIDisabled: true, Metadata: map[string]string{"enable-oslogin": "TRUE"}, Policies: []string{RequireOSLogin}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if err := got.Validate(); err != nil {
		t.Errorf("Validate = %v", err)
	}
}

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		faults Faults
		want   string
	}{
		"UnknownKind":  {Faults{Calls: []Call{{Kind: "slow"}}}, `calls[0]: unknown kind "slow"`},
		"NoKind":       {Faults{Calls: []Call{{}}}, "unknown kind"},
		"UnknownCloud": {Faults{Calls: []Call{{Kind: Silent, Place: Place{Cloud: "azure"}}}}, "unknown cloud"},
		"Count":        {Faults{Calls: []Call{{Kind: Silent, Count: -1}}}, "count is -1"},
		"Nothing":      {Faults{Machines: []Machine{{}}}, "machines[0]: nothing is wrong"},
		"Quota":        {Faults{Quotas: []Allowance{{Quota: "CPU", Limit: 1}}}, `quotas[0]: unknown quota "CPU"`},
		"Limit":        {Faults{Quotas: []Allowance{{Quota: RegionCPUs, Limit: -1}}}, "limit is -1"},
		"Zone":         {Faults{Quotas: []Allowance{{Quota: RegionCPUs, Place: Place{Zone: "z"}}}}, `zone "z"`},
		"Everywhere":   {Faults{Quotas: []Allowance{{Quota: AllCPUs, Place: Place{Region: "r1"}}}}, "of all regions"},
		"Policy":       {Faults{Project: Project{Policies: []string{"compute.noSuch"}}}, `project: unknown policy "compute.noSuch"`},
		"Delay":        {Faults{Machines: []Machine{{BootDelayS: -1}}}, "boot_delay_s"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.faults.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Validate = %v, want %q", err, c.want)
			}
		})
	}
}

func TestCallCounts(t *testing.T) {
	i := NewInjector(Faults{Calls: []Call{
		{Place: Place{Region: "r1"}, Call: "A", Kind: Throttle, Count: 2},
		{Call: "A", Kind: Denied, Count: 1},
	}})
	r1, r2 := Place{Cloud: "aws", Region: "r1"}, Place{Cloud: "aws", Region: "r2"}
	var got []Kind
	for _, at := range []Place{r1, r2, r1, r1, r2} {
		got = append(got, i.Call(at, "A"))
	}
	got = append(got, i.Call(r1, "B"))
	if diff := cmp.Diff([]Kind{Throttle, Denied, Throttle, None, None, None}, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

func TestLift(t *testing.T) {
	i := NewInjector(Faults{Calls: []Call{{Kind: Denied}}})
	before := i.Call(Place{Cloud: "aws"}, "A")
	i.Lift()
	if after := i.Call(Place{Cloud: "aws"}, "A"); before != Denied || after != None {
		t.Errorf("kinds = %q, then %q; want denied, then none", before, after)
	}
}

func TestMachineAddsUp(t *testing.T) {
	i := NewInjector(Faults{Machines: []Machine{{RefuseSSH: true, Count: 1}, {BootDelayS: 1}, {BootDelayS: 0.5}}})
	want := Fate{Faults: vm.Faults{RefuseSSH: true}, BootDelay: 1500 * time.Millisecond}
	if got := i.Machine(Place{Cloud: "gcp"}, false); got != want {
		t.Errorf("first machine: %+v, want %+v", got, want)
	}
	want.RefuseSSH = false
	if got := i.Machine(Place{Cloud: "gcp"}, true); got != want {
		t.Errorf("second machine: %+v, want %+v", got, want)
	}
}

// TestSpotTaken: an ordinary machine does not use up a spot machine's fate.
func TestSpotTaken(t *testing.T) {
	i := NewInjector(Faults{Machines: []Machine{{SpotTakenAfterS: 20, Count: 1}}})
	for n, c := range []struct {
		spot bool
		want time.Duration
	}{{false, 0}, {true, 20 * time.Second}, {true, 0}} {
		if got := i.Machine(Place{Cloud: "aws"}, c.spot).Taken; got != c.want {
			t.Errorf("machine %d is taken after %v, want %v", n, got, c.want)
		}
	}
}

func TestServe(t *testing.T) {
	for name, c := range map[string]struct {
		kind     Kind
		acts     bool
		answered bool
	}{
		"None":       {None, true, true},
		"Silent":     {Silent, false, false},
		"ResetAfter": {ResetAfter, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				acted, answered := serve(ctx, NewInjector(Faults{}), c.kind)
				if acted != c.acts || answered != c.answered {
					t.Errorf("acted %v, answered %v; want %v, %v", acted, answered, c.acts, c.answered)
				}
			})
		})
	}
}

func TestReleaseEndsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := NewInjector(Faults{})
		time.AfterFunc(time.Second, i.Release)
		start := time.Now()
		serve(t.Context(), i, Silent)
		if d := time.Since(start); d != time.Second {
			t.Errorf("kept silent for %v, want 1s", d)
		}
	})
}

// serve says whether the handler ran and whether its answer arrived.
func serve(ctx context.Context, i *Injector, kind Kind) (acted, answered bool) {
	defer func() { answered = recover() == nil }()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", nil)
	i.Serve(kind, httptest.NewRecorder(), r, func(w http.ResponseWriter, _ *http.Request) {
		acted = true
		w.WriteHeader(http.StatusOK)
	})
	return acted, true
}

// TestDenies counts neither faults that pass nor those of one place.
func TestDenies(t *testing.T) {
	i := NewInjector(Faults{Calls: []Call{
		{Call: "A", Kind: Denied}, {Call: "B", Kind: Denied, Count: 1}, {Call: "C", Kind: Silent},
		{Call: "D", Kind: Denied, Place: Place{Region: "r1"}}, {Call: "E", Kind: Denied, Place: Place{Cloud: "gcp"}},
	}})
	var got []string
	for _, call := range []string{"A", "B", "C", "D", "E"} {
		if i.Denies("gcp", call) {
			got = append(got, call)
		}
	}
	if diff := cmp.Diff([]string{"A", "E"}, got); diff != "" {
		t.Error(diff)
	}
}
