package providertest

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

// Ledger keeps which part of a run's life makes which calls. Safe for
// concurrent use.
type Ledger struct {
	mu    sync.Mutex
	part  string
	calls map[string][]string // to the parts
}

// Enter begins the next part; what follows an empty one is not kept.
func (l *Ledger) Enter(part string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = part
}

// Note keeps a call.
func (l *Ledger) Note(call string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.part == "" || slices.Contains(l.calls[call], l.part) {
		return
	}
	if l.calls == nil {
		l.calls = map[string][]string{}
	}
	l.calls[call] = append(l.calls[call], l.part)
}

// parts are those of a run's life, in order.
var parts = []string{"doctor", "launch", "resume", "teardown"}

// Calls are all calls with the parts that make them, in order, such as
// "launch, teardown". What a resume repeats of a launch is the launch's.
func (l *Ledger) Calls() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]string{}
	for call, by := range l.calls {
		makes := slices.DeleteFunc(slices.Clone(parts), func(part string) bool {
			return !slices.Contains(by, part) || part == "resume" && slices.Contains(by, "launch")
		})
		all[call] = strings.Join(makes, ", ")
	}
	return all
}

// Live leads a run through all of its life: what a preflight asks, launch,
// resume from another address, teardown.
func (c Cloud) Live(t *testing.T, p providers.Provider, ledger *Ledger) {
	t.Helper()
	ctx, spec := testContext(t), c.spec(t, run("r1"), c.Regions[0])
	regions := c.Regions[:1]
	ledger.Enter("doctor")
	if asker, ok := p.(providers.Preflighter); ok {
		for _, ipv6 := range []bool{false, true} {
			asker.Preflight(ctx, providers.Wanted{Regions: regions, MachineTypes: []string{c.MachineType}, IPv6: ipv6})
		}
	}
	ledger.Enter("launch")
	launch(t, p, spec)
	admit(t, p, spec.Run, spec.Region, peers(0, 2))
	ledger.Enter("resume")
	spec.Adopt, spec.SSHFrom = true, elsewhere
	launch(t, p, spec)
	time.Sleep(providers.ListLag) // fake: until the lists show also a disk that stays
	ledger.Enter("teardown")
	if err := p.Destroy(ctx, spec.Run.ID, regions); err != nil {
		t.Fatal(err)
	}
	ledger.Enter("")
}

// Rewrite replaces a text in the bodies of all requests. So a machine can be asked
// for that leaves its disk behind.
func Rewrite(old, another string) Way {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Body == nil {
				return next.RoundTrip(r)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			body = bytes.ReplaceAll(body, []byte(old), []byte(another))
			r = r.Clone(r.Context())
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			return next.RoundTrip(r)
		})
	}
}
