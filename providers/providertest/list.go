package providertest

import (
	"slices"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

// listed is what a list says once it can't be late any more.
func listed(t *testing.T, p providers.Provider, runID string, regions ...string) []providers.Resource {
	t.Helper()
	time.Sleep(providers.ListLag)
	list, err := p.List(testContext(t), runID, regions)
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	return list
}

func testList(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	r := run("r1")
	m := launch(t, p, c.spec(t, r, c.Regions[0]))
	list := listed(t, p, "r1", c.Regions[:]...)
	kinds := map[string]int{}
	for _, res := range list {
		kinds[res.Kind]++
		if res.Cloud != c.Name || res.RunID != "r1" || res.ID == "" || !res.Expires.Equal(r.Expires) {
			t.Errorf("%+v: want cloud %s, run r1, an id, expiry %v", res, c.Name, r.Expires)
		}
		if res.Region != c.Regions[0] && res.Region != "" {
			t.Errorf("%s %s is in region %s", res.Kind, res.ID, res.Region)
		}
	}
	if kinds[providers.Instance] != 1 || kinds[providers.Disk] != 1 || len(list) < 4 {
		t.Errorf("List = %v, want an instance, its disk, and what lets people in", list)
	}
	i := slices.IndexFunc(list, func(res providers.Resource) bool { return res.Kind == providers.Instance })
	if i >= 0 && (list[i].ID != m.ID || list[i].State == "") {
		t.Errorf("the instance is %q in state %q, want %q in some state", list[i].ID, list[i].State, m.ID)
	}
	elsewhere := slices.DeleteFunc(listed(t, p, "r1", c.Regions[1]), func(res providers.Resource) bool { return res.Region == "" })
	if len(elsewhere) > 0 {
		t.Errorf("List of another region = %v, want nothing", elsewhere)
	}
	destroyed(t, w, "r1", c.Regions[:]...)
}

func testListAllRuns(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	launch(t, p, c.spec(t, run("r1"), c.Regions[0]))
	launch(t, p, c.spec(t, run("r2"), c.Regions[1]))
	runs := map[string]bool{}
	for _, res := range listed(t, p, "", c.Regions[:]...) {
		runs[res.RunID] = true
	}
	if len(runs) != 2 || !runs["r1"] || !runs["r2"] {
		t.Errorf("runs found = %v, want r1 and r2", runs)
	}
	if err := p.Destroy(testContext(t), "r1", c.Regions[:]); err != nil {
		t.Errorf("Destroy: %v", err)
	}
	destroyed(t, w, "r2", c.Regions[:]...)
}
