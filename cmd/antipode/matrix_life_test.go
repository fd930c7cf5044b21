//go:build !race

// Not under the race detector, as the matrix of faults, in whose world it is.

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/aws"
	"github.com/antipode-bench/antipode/providers/gcp"
)

// elsewhere is where the controller was before.
var elsewhere = netip.MustParseAddr("192.0.2.1")

// lifeMatrix are the parts of a run's life that a sweep from end to end has not:
// the calls of part that were not made before are rows of a matrix of their own.
var lifeMatrix = map[string]struct {
	before, part func(*matrixWorld, *testing.T) error
	calls        []string // at least
	done         func(*matrixWorld, *testing.T) bool
	teardown     bool // asks again whatever the answer was
}{
	"taken over from another address": {
		before: func(w *matrixWorld, t *testing.T) error { return w.launchBoth(t, elsewhere) },
		part:   func(w *matrixWorld, t *testing.T) error { w.openProviders(t); return w.launchBoth(t, controllerAddr) },
		calls:  []string{"RevokeSecurityGroupIngress", "firewalls.get", "firewalls.patch", "networks.get", "subnetworks.get"},
		done: func(w *matrixWorld, _ *testing.T) bool {
			return w.open(controllerAddr) == 2 && w.open(elsewhere) == 0
		},
	},
	"cleaned up from elsewhere": {
		before:   func(w *matrixWorld, t *testing.T) error { return w.launchBoth(t, controllerAddr) },
		part:     func(w *matrixWorld, t *testing.T) error { w.openProviders(t); return w.destroyBoth(t) },
		calls:    []string{"projects.getXpnHost"},
		done:     func(w *matrixWorld, _ *testing.T) bool { return len(w.left()) == 0 },
		teardown: true,
	},
	"disks that stay behind": {
		before: func(w *matrixWorld, t *testing.T) error {
			w.disksStay.Store(true)
			return w.launchBoth(t, controllerAddr)
		},
		part:     func(w *matrixWorld, t *testing.T) error { return w.destroyBoth(t) },
		calls:    []string{"DeleteVolume", "disks.delete"},
		done:     func(w *matrixWorld, _ *testing.T) bool { return len(w.left()) == 0 },
		teardown: true,
	},
}

// TestLifeMatrix lets the calls of these parts go wrong in every way. A part that
// fails says so, one that does not is done, and clean-up removes all in any case.
func TestLifeMatrix(t *testing.T) {
	for part, p := range lifeMatrix {
		var calls []asked
		synctest.Test(t, func(t *testing.T) { calls = newCalls(t, p.before, p.part) })
		for _, call := range p.calls {
			if !slices.ContainsFunc(calls, func(a asked) bool { return a.call == call }) {
				t.Errorf("%s: no %s in %v", part, call, calls)
			}
		}
		for _, call := range calls {
			for _, kind := range matrixKinds {
				row := matrixCall{cloud: call.cloud, call: call.call}
				if kind == fault.BadOperation && !row.operates() || kind == fault.Capacity {
					continue // no such call wants for room
				}
				for _, always := range []bool{false, true} {
					t.Run(part+"/"+cell{row, kind, always}.name(), func(t *testing.T) {
						t.Parallel()
						synctest.Test(t, func(t *testing.T) {
							w := openMatrixWorld(t, door.Faults{Calls: []fault.Call{call.fault(kind, always)}})
							if err := p.before(w, t); err != nil {
								t.Fatal(err)
							}
							err := p.part(w, t)
							recovers := !always && (passes(kind) || p.teardown) || kind == fault.ResetAfter && cell{matrixCall: row}.deletes()
							if call.call == "projects.getXpnHost" && kind == fault.Denied {
								recovers = true // who may not ask for a host project has made nothing in one
							}
							if (err == nil) != recovers {
								t.Errorf("it ends with %v", err)
							}
							if done := p.done(w, t); err == nil && !done {
								t.Errorf("it is not done, and says nothing: left %v", w.left())
							}
							w.doors.LiftFaults()
							if err := w.destroyBoth(t); err != nil || len(w.left()) > 0 {
								t.Errorf("clean-up: %v, left %v", err, w.left())
							}
						})
					})
				}
			}
		}
	}
}

// newCalls are those of a part that were not made before it, nor in a clean-up.
func newCalls(t *testing.T, before, part func(*matrixWorld, *testing.T) error) (calls []asked) {
	usual := map[string]bool{}
	w := openMatrixWorld(t, door.Faults{})
	if err := w.launchBoth(t, controllerAddr); err != nil {
		t.Fatal(err)
	}
	if err := w.destroyBoth(t); err != nil {
		t.Fatal(err)
	}
	for _, a := range w.calls.all() {
		usual[a.name] = true
	}
	w = openMatrixWorld(t, door.Faults{})
	if err := before(w, t); err != nil {
		t.Fatal(err)
	}
	if err := part(w, t); err != nil {
		t.Fatal(err)
	}
	for _, a := range w.calls.all() {
		if !usual[a.name] {
			usual[a.name] = true
			calls = append(calls, asked{a.cloud, a.region, a.name})
		}
	}
	return calls
}

func (a asked) fault(kind fault.Kind, always bool) fault.Call {
	f := fault.Call{Place: fault.Place{Cloud: a.cloud, Region: a.region}, Call: a.call, Kind: kind, Count: 1}
	if always {
		f.Count = 0
	}
	return f
}

// launchBoth launches or adopts a machine in a region of each cloud.
func (w *matrixWorld) launchBoth(t *testing.T, from netip.Addr) error {
	t.Helper()
	keys := newMatrixRemote(t, w.machines)
	for _, r := range []antipode.Region{ireland, oregon} {
		private, public, err := keys.HostKey(r.ID())
		if err != nil {
			t.Fatal(err)
		}
		machineType := map[string]string{"aws": aws.DefaultMachineType, "gcp": gcp.DefaultMachineType}[r.Cloud]
		if _, err := w.providers[r.Cloud].Launch(t.Context(), providers.Spec{
			Run: providers.Run{ID: matrixRun, Expires: time.Now().Add(6 * time.Hour)}, Region: r.Name, MachineType: machineType,
			AuthorizedKey: keys.AuthorizedKey(), HostKeyPEM: private, HostKey: public, SSHFrom: from, Adopt: true,
		}); err != nil {
			return err
		}
	}
	return nil
}

func (w *matrixWorld) destroyBoth(t *testing.T) error {
	t.Helper()
	for _, r := range []antipode.Region{ireland, oregon} {
		if err := w.providers[r.Cloud].Destroy(t.Context(), matrixRun, []string{r.Name}); err != nil {
			return err
		}
	}
	return nil
}

// open is how many machines let an address in by SSH.
func (w *matrixWorld) open(from netip.Addr) (n int) {
	for _, id := range w.machines.Running() {
		if m, ok := w.machines.Machine(id); ok && reaches(w.machines, m.Addresses.Public, "tcp", 22, from) {
			n++
		}
	}
	return n
}

// changed lets a request through in which another word is written, as if it had
// been made by a version or a hand that wanted something else.
type changed struct {
	next http.RoundTripper
	edit func(body []byte) []byte
}

func (c changed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return c.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	body = c.edit(body)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return c.next.RoundTrip(r)
}

// keepDisks makes machines whose disks outlive them.
func keepDisks(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte("DeleteOnTermination=true"), []byte("DeleteOnTermination=false"))
	return bytes.ReplaceAll(body, []byte(`"autoDelete":true`), []byte(`"autoDelete":false`))
}
