package cleanup

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/providers"
)

func TestFind(t *testing.T) {
	early, late := time.Unix(1000, 0), time.Unix(2000, 0)
	aws := newAccount("aws",
		thing("r2", providers.Instance, "west", "i-2", late),
		thing("r1", providers.KeyPair, "west", "key", early),
		thing("r1", providers.Instance, "east", "i-1", late),
		thing("Somebody's", providers.Instance, "east", "i-3", late))
	gcp := newAccount("gcp", thing("r1", providers.Network, "", "net", time.Time{}))
	all := clouds(aws, gcp)

	found := Find(t.Context(), all, "")
	var got []string
	for _, run := range found.Runs {
		got = append(got, run.ID)
		for _, r := range run.Resources {
			got = append(got, r.Cloud+" "+r.Region+" "+r.ID)
		}
	}
	want := []string{"r1", "aws east i-1", "aws west key", "gcp  net", "r2", "aws west i-2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if !found.Runs[0].Expires.Equal(late) {
		t.Errorf("r1 expires at %v, want the latest, %v", found.Runs[0].Expires, late)
	}
	if one := Find(t.Context(), all, "r2"); len(one.Runs) != 1 || one.Runs[0].ID != "r2" {
		t.Errorf("Find r2 = %+v", one.Runs)
	}
}

// A region that is not for us hides nothing; one that is down does.
func TestFindTellsClosedFromUnknown(t *testing.T) {
	for kind, closed := range map[providers.Kind]bool{
		providers.Skip: true, providers.Temporary: false, providers.Timeout: false, providers.Auth: false, providers.Unknown: false,
	} {
		t.Run(string(kind), func(t *testing.T) {
			aws := newAccount("aws", thing("r1", providers.Instance, "east", "i-1", time.Time{})).in("west", kind)
			found := Find(t.Context(), clouds(aws), "")
			got, other := found.Unknown, found.Closed
			if closed {
				got, other = other, got
			}
			if len(got) != 1 || got[0].Cloud != "aws" || got[0].Region != "west" || len(other) > 0 {
				t.Errorf("unknown %v, closed %v; want aws west once, closed: %v", found.Unknown, found.Closed, closed)
			}
			if len(found.Runs) != 1 {
				t.Errorf("runs = %v, want that of the other region", found.Runs)
			}
		})
	}
}

func TestExpired(t *testing.T) {
	now := time.Unix(1e6, 0)
	runs := []Run{
		{ID: "long-ago", Expires: now.Add(-time.Hour)},
		{ID: "just-now", Expires: now.Add(-Grace)},
		{ID: "going-on", Expires: now.Add(time.Second)},
		{ID: "who-knows"},
	}
	expired, unsure := Expired(runs, now)
	if len(expired) != 1 || expired[0].ID != "long-ago" || len(unsure) != 1 || unsure[0].ID != "who-knows" {
		t.Errorf("expired %v, unsure %v", expired, unsure)
	}
}

func TestClean(t *testing.T) {
	future := time.Now().Add(1000 * time.Hour)
	holdings := func() (*account, *account) {
		return newAccount("aws", thing("r1", providers.Instance, "east", "i-1", future), thing("r2", providers.Instance, "east", "i-2", future)),
			newAccount("gcp", thing("r1", providers.Network, "", "net-1", future), thing("r2", providers.Network, "", "net-2", future))
	}
	tests := map[string]struct {
		runs     []string
		bend     func(aws, gcp *account)
		aws, gcp []string // what stays
		left     []string
		unknown  int
		err      bool
	}{
		"one run":   {runs: []string{"r1"}, aws: []string{"i-2"}, gcp: []string{"net-2"}},
		"both":      {runs: []string{"r1", "r2"}},
		"no run":    {aws: []string{"i-1", "i-2"}, gcp: []string{"net-1", "net-2"}},
		"never was": {runs: []string{"r3"}, aws: []string{"i-1", "i-2"}, gcp: []string{"net-1", "net-2"}},
		"gone at the second try": {
			runs: []string{"r1"}, bend: func(aws, _ *account) { aws.stubborn["i-1"] = 1 },
			aws: []string{"i-2"}, gcp: []string{"net-2"}},
		"never gone": {
			runs: []string{"r1"}, bend: func(_, gcp *account) { gcp.stubborn["net-1"] = 100 },
			aws: []string{"i-2"}, gcp: []string{"net-1", "net-2"}, left: []string{"net-1"}},
		"a region is down": {
			runs: []string{"r1"}, bend: func(aws, _ *account) { aws.in("east", providers.Temporary) },
			aws: []string{"i-1", "i-2"}, gcp: []string{"net-2"}, unknown: 1, err: true},
		"shown late": { // launched just before the controller died
			runs: []string{"r1"}, bend: func(aws, _ *account) { aws.hidden["i-1"] = time.Now().Add(providers.ListLag - time.Second) },
			aws: []string{"i-2"}, gcp: []string{"net-2"}},
		"while another run launches": {
			runs: []string{"r1"}, bend: func(aws, _ *account) {
				aws.while = func() { aws.holds = append(aws.holds, thing("r2", providers.Instance, "east", "i-3", future)) }
			},
			aws: []string{"i-2", "i-3"}, gcp: []string{"net-2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				aws, gcp := holdings()
				if test.bend != nil {
					test.bend(aws, gcp)
				}
				var runs []Run
				for _, id := range test.runs {
					runs = append(runs, Run{ID: id})
				}
				out := Clean(t.Context(), clouds(aws, gcp), nil, runs, Patience{})
				wantIDs(t, aws, test.aws...)
				wantIDs(t, gcp, test.gcp...)
				var left []string
				for _, r := range out.Left {
					left = append(left, r.ID)
				}
				if !slices.Equal(left, test.left) || len(out.Unknown) != test.unknown || (out.Err != nil) != test.err {
					t.Errorf("left %v, unknown %v, err %v; want %v, %d, %v", left, out.Unknown, out.Err, test.left, test.unknown, test.err)
				}
				if out.Clean() != (len(test.left)+test.unknown == 0) {
					t.Errorf("Clean = %v with left %v, unknown %v", out.Clean(), out.Left, out.Unknown)
				}
				for _, id := range slices.Concat(aws.asked, gcp.asked) {
					if !slices.Contains(test.runs, id) {
						t.Errorf("asked to destroy run %q, which was not chosen", id)
					}
				}
			})
		})
	}
}

// A region closed to the account is not asked again: its refusals would read
// as failures.
func TestCleanLeavesClosedRegionsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aws := newAccount("aws", thing("r1", providers.Instance, "east", "i-1", time.Time{})).in("west", providers.Skip)
		all := clouds(aws)
		out := Clean(t.Context(), all, Find(t.Context(), all, "").Closed, []Run{{ID: "r1"}}, Patience{})
		if !out.Clean() || out.Err != nil {
			t.Errorf("outcome = %+v", out)
		}
		wantIDs(t, aws)
	})
}

// Lists are waited for only where something may have been launched lately.
func TestCleanExpiredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		old := began.Add(-time.Hour)
		aws := newAccount("aws", thing("r1", providers.Instance, "east", "i-1", old))
		if out := Clean(t.Context(), clouds(aws), nil, []Run{{ID: "r1", Expires: old}}, Patience{}); !out.Clean() {
			t.Errorf("outcome = %+v", out)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("took %v for nothing", took)
		}
	})
}

// TestCleanWaits for a region that is down for a while.
func TestCleanWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := time.Now().Add(-time.Hour)
		aws := newAccount("aws", thing("r1", providers.Instance, "east", "i-1", old)).in("east", providers.Temporary)
		time.AfterFunc(4*time.Minute, func() {
			aws.mu.Lock()
			defer aws.mu.Unlock()
			clear(aws.down)
		})
		told := 0
		out := Clean(t.Context(), clouds(aws), nil, []Run{{ID: "r1", Expires: old}},
			Patience{10 * time.Minute, func(o Outcome, pause time.Duration) { told++ }})
		if !out.Clean() || told < 4 || told > 10 {
			t.Errorf("outcome = %+v, told %d times", out, told)
		}
		wantIDs(t, aws)
	})
}

func TestCleanInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		aws := newAccount("aws", thing("r1", providers.Instance, "east", "i-1", time.Time{}))
		out := Clean(ctx, clouds(aws), nil, []Run{{ID: "r1"}}, Patience{})
		if out.Clean() {
			t.Errorf("an interrupted clean-up says that nothing is left")
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("went on for %v", took-time.Second)
		}
	})
}
