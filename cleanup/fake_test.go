package cleanup

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

// account is a cloud that remembers what is in it and checks who deletes.
type account struct {
	cloud string

	mu       sync.Mutex
	holds    []providers.Resource
	hidden   map[string]time.Time // ids that lists don't show before
	down     map[string]error     // by region: what every call there says
	stubborn map[string]int       // ids that survive so many Destroys
	asked    []string             // runs that Destroy was called for
	while    func()               // called by the first Destroy, once it is over
}

var _ providers.Provider = (*account)(nil)

func (a *account) Cloud() string { return a.cloud }

func (a *account) Launch(context.Context, providers.Spec) (providers.Machine, error) {
	return providers.Machine{}, errors.New("cleaning up launches nothing")
}

func (a *account) Admit(context.Context, providers.Run, string, int, []netip.Addr) error {
	return errors.New("cleaning up admits nobody")
}

func (a *account) List(ctx context.Context, runID string, regions []string) ([]providers.Resource, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() != nil {
		return nil, &providers.Error{Op: "List", Cloud: a.cloud, Kind: providers.Canceled, Err: ctx.Err()}
	}
	var list []providers.Resource
	for _, r := range a.holds {
		if a.matches(r, runID, regions) && !time.Now().Before(a.hidden[r.ID]) {
			list = append(list, r)
		}
	}
	return list, a.errors(regions)
}

func (a *account) Destroy(ctx context.Context, runID string, regions []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, runID)
	if runID == "" || ctx.Err() != nil {
		return errors.New("destroy what?")
	}
	a.holds = slices.DeleteFunc(a.holds, func(r providers.Resource) bool {
		if !a.matches(r, runID, regions) || time.Now().Before(a.hidden[r.ID]) {
			return false
		}
		a.stubborn[r.ID]--
		return a.stubborn[r.ID] < 0
	})
	if a.while != nil {
		a.while()
		a.while = nil
	}
	return a.errors(regions)
}

func (a *account) matches(r providers.Resource, runID string, regions []string) bool {
	return (runID == "" || r.RunID == runID) && a.down[r.Region] == nil &&
		(r.Region == "" || slices.Contains(regions, r.Region))
}

func (a *account) errors(regions []string) error {
	var errs []error
	for _, region := range regions {
		if err := a.down[region]; err != nil {
			errs = append(errs, err, err) // as of two lists
		}
	}
	return errors.Join(errs...)
}

func newAccount(cloud string, holds ...providers.Resource) *account {
	for i := range holds {
		holds[i].Cloud = cloud
	}
	return &account{cloud: cloud, holds: holds, hidden: map[string]time.Time{}, down: map[string]error{}, stubborn: map[string]int{}}
}

// in makes a cloud's region answer with an error of a kind.
func (a *account) in(region string, kind providers.Kind) *account {
	a.down[region] = &providers.Error{Op: "List", Cloud: a.cloud, Region: region, Kind: kind, Err: errors.New("no")}
	return a
}

func (a *account) ids() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var ids []string
	for _, r := range a.holds {
		ids = append(ids, r.ID)
	}
	return ids
}

// thing is a resource of a run that expires at a time.
func thing(run, kind, region, id string, expires time.Time) providers.Resource {
	return providers.Resource{RunID: run, Kind: kind, Region: region, ID: id, Expires: expires}
}

func clouds(accounts ...*account) []Cloud {
	var list []Cloud
	for _, a := range accounts {
		list = append(list, Cloud{a, []string{"east", "west"}})
	}
	return list
}

func wantIDs(t *testing.T, a *account, want ...string) {
	t.Helper()
	if got := a.ids(); !slices.Equal(got, want) {
		t.Errorf("%s holds %v, want %v", a.cloud, got, want)
	}
}
