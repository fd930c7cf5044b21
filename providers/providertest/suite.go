package providertest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

// Way changes the way of a provider's requests to its cloud. nil leaves it.
type Way func(http.RoundTripper) http.RoundTripper

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Cloud is a provider and the world it stands in. Its functions are called
// inside a synctest bubble: no request may leave the process.
type Cloud struct {
	Name        string    // what Provider.Cloud says
	Regions     [2]string // two that exist, of which the first alone has IPv6
	MachineType string

	// Open gives a provider for an account with nothing in it.
	Open func(*testing.T, Way) World
	// Exempt are tests that this cloud can't pass, by name or by prefix of names,
	// with the reason.
	Exempt map[string]string

	// LastCut is the number of a launch's last request at which something is made
	// to happen. No smaller than the requests of a launch in fair weather, or some
	// would go untested. 0: lastCut.
	LastCut int

	// At gives a provider whose requests all go to t, each for at most timeout.
	At func(t *testing.T, to http.RoundTripper, timeout time.Duration) providers.Provider
}

// World is one account.
type World struct {
	Provider providers.Provider
	// Reaches says whether the account's rules let a packet through to machine.
	Reaches func(machine providers.Machine, protocol string, port int, from netip.Addr) bool
	// Left lists what really exists in the account, however late the API's own lists are.
	Left func() []string
	// Untagged lists what really exists and could carry this tag, but does not.
	Untagged func(key, value string) []string
}

// Run checks every promise of providers.Provider, in fake time.
func Run(t *testing.T, cloud Cloud) {
	tests := map[string]func(*testing.T, Cloud){
		"Launch":                testLaunch,
		"LaunchTwice":           testLaunchTwice,
		"LaunchAdopts":          testLaunchAdopts,
		"LaunchInstead":         testLaunchInstead,
		"LaunchRegionsAtOnce":   testLaunchRegionsAtOnce,
		"LaunchBadSpec":         testLaunchBadSpec,
		"LaunchUnknownRegion":   testLaunchUnknownRegion,
		"LaunchTags":            testLaunchTags,
		"LaunchSpot":            testLaunchSpot,
		"LaunchIPv6":            testLaunchIPv6,
		"LaunchInZone":          testLaunchInZone,
		"LaunchInNoZone":        testLaunchInNoZone,
		"SSHFromControllerOnly": testSSHFromControllerOnly,
		"Admit":                 testAdmit,
		"AdmitMany":             testAdmitMany,
		"AdmitNobody":           testAdmitNobody,
		"List":                  testList,
		"ListAllRuns":           testListAllRuns,
		"DestroyTwice":          testDestroyTwice,
		"DestroyTwiceAtOnce":    testDestroyTwiceAtOnce,
		"DestroyUnknown":        testDestroyUnknown,
		"DestroyNeedsRun":       testDestroyNeedsRun,
		"RunsApart":             testRunsApart,
		"ClosedEndpoint":        testClosedEndpoint,
		"LastCut":               testLastCut,
	}
	for _, m := range methods {
		tests["Silent"+m.name] = m.testSilent
		tests["Silent"+m.name+"Cancelled"] = m.testSilentCancelled
	}
	for n := 1; n <= cloud.lastCut(); n++ {
		tests[fmt.Sprintf("LaunchCutAtCall%d", n)] = cut(n).testLaunchCancelled
		tests[fmt.Sprintf("LaunchLosesAnswer%d", n)] = cut(n).testLaunchLosesAnswer
		tests[fmt.Sprintf("DestroyDuringCall%d", n)] = cut(n).testDestroyWhileLaunching
	}
	runAll(t, cloud, tests)
}

// RunLent checks the promises that are left where machines are not made but
// found: which and where is as of Run, but nothing is created, ruled or listed,
// and no API is asked.
func RunLent(t *testing.T, cloud Cloud) {
	runAll(t, cloud, map[string]func(*testing.T, Cloud){
		"LaunchTwice":         testLaunchTwice,
		"LaunchRegionsAtOnce": testLaunchRegionsAtOnce,
		"LaunchBadSpec":       testLaunchBadSpec,
		"LaunchUnknownRegion": testLaunchUnknownRegion,
		"DestroyTwice":        testDestroyTwice,
		"DestroyTwiceAtOnce":  testDestroyTwiceAtOnce,
		"DestroyUnknown":      testDestroyUnknown,
	})
}

func runAll(t *testing.T, cloud Cloud, tests map[string]func(*testing.T, Cloud)) {
	for prefix := range cloud.Exempt {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(tests)), func(name string) bool { return strings.HasPrefix(name, prefix) }) {
			t.Errorf("there is no test %s to be exempt from", prefix)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for prefix, reason := range cloud.Exempt {
				if strings.HasPrefix(name, prefix) {
					t.Skip(reason)
				}
			}
			synctest.Test(t, func(t *testing.T) { tests[name](t, cloud) })
		})
	}
}

// suiteLimit bounds every test, in fake time: a provider that hangs fails it.
const suiteLimit = 5 * time.Minute

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), suiteLimit)
	t.Cleanup(cancel)
	return ctx
}

// opened gives a world with nothing in it.
func opened(t *testing.T, c Cloud) (providers.Provider, World) {
	return openedBy(t, c, nil)
}

func openedBy(t *testing.T, c Cloud, way Way) (providers.Provider, World) {
	w := c.Open(t, way)
	if got := w.Provider.Cloud(); got != c.Name {
		t.Errorf("Cloud = %q, want %q", got, c.Name)
	}
	return w.Provider, w
}

func launch(t *testing.T, p providers.Provider, spec providers.Spec) providers.Machine {
	t.Helper()
	m, err := p.Launch(testContext(t), spec)
	if err != nil {
		t.Fatalf("Launch in %s: %v", spec.Region, err)
	}
	return m
}

// destroyed tears the run down and checks that nothing is left, in the API's
// list and in truth.
func destroyed(t *testing.T, w World, runID string, regions ...string) {
	t.Helper()
	ctx := testContext(t)
	if err := w.Provider.Destroy(ctx, runID, regions); err != nil {
		t.Errorf("Destroy: %v", err)
	}
	left, err := w.Provider.List(ctx, runID, regions)
	if err != nil || len(left) > 0 {
		t.Errorf("List after Destroy = %v, %v; want nothing", left, err)
	}
	if left := w.Left(); len(left) > 0 {
		t.Errorf("really left after Destroy: %v", left)
	}
}
