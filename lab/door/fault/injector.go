package fault

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/lab/vm"
)

// Injector deals faults out and keeps count. Safe for concurrent use.
type Injector struct {
	faults   Faults
	released chan struct{}
	once     sync.Once

	mu       sync.Mutex // guards what follows
	lifted   bool       // no call goes wrong any more
	calls    []int      // how often each of faults.Calls was dealt
	machines []int
}

// NewInjector returns an injector of valid faults.
func NewInjector(f Faults) *Injector {
	return &Injector{
		faults:   f,
		released: make(chan struct{}),
		calls:    make([]int, len(f.Calls)),
		machines: make([]int, len(f.Machines)),
	}
}

// Call returns what happens to a call made at a place.
func (i *Injector) Call(at Place, call string) Kind { return i.call(at, call, nil) }

// Rehearsal returns what happens to a call that only asks what would happen:
// that it would find no room it is not told.
func (i *Injector) Rehearsal(at Place, call string) Kind {
	return i.call(at, call, []Kind{Capacity, LateCapacity, Quota})
}

func (i *Injector) call(at Place, call string, not []Kind) Kind {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.lifted {
		return None
	}
	for n, c := range i.faults.Calls {
		if slices.Contains(not, c.Kind) {
			continue
		}
		if c.matches(at) && (c.Call == "" || c.Call == call) && take(&i.calls[n], c.Count) {
			return c.Kind
		}
	}
	return None
}

// Fate is what is wrong with one machine.
type Fate struct {
	vm.Faults
	BootDelay time.Duration // so much longer it takes to boot
	Taken     time.Duration // so long after its start it is taken away; 0: never
}

// Machine returns what is wrong with the next machine at a place. Several
// faults of one machine add up.
func (i *Injector) Machine(at Place, spot bool) Fate {
	i.mu.Lock()
	defer i.mu.Unlock()
	var fate Fate
	for n, m := range i.faults.Machines {
		if !m.matches(at) || m.SpotTakenAfterS > 0 && !spot || !take(&i.machines[n], m.Count) {
			continue
		}
		fate.NeverBoot = fate.NeverBoot || m.NeverBoot
		fate.RefuseSSH = fate.RefuseSSH || m.RefuseSSH
		fate.BootDelay += seconds(m.BootDelayS)
		fate.Taken += seconds(m.SpotTakenAfterS)
	}
	return fate
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// OptedOut says whether the account has not enabled an AWS region.
func (i *Injector) OptedOut(region string) bool {
	return slices.Contains(i.faults.OptedOut, region)
}

// NoDefaultVPC says whether an AWS region's VPC is not the default one.
func (i *Injector) NoDefaultVPC(region string) bool {
	return slices.Contains(i.faults.NoDefault, region)
}

// Serve lets a handler answer as the kind says, for the kinds that are about
// the connection and not about the answer. It never returns for a call whose
// connection is to be cut.
func (i *Injector) Serve(kind Kind, w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	switch kind {
	case Silent:
		select { // until the caller gives up or the lab closes
		case <-r.Context().Done():
		case <-i.released:
		}
		panic(http.ErrAbortHandler)
	case ResetAfter:
		next(nowhere{}, r)
		panic(http.ErrAbortHandler)
	default:
		next(w, r)
	}
}

// Lift lets all calls from now on go well. Machines keep their faults.
func (i *Injector) Lift() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lifted = true
}

// Release ends every call that is kept waiting. Safe to call twice.
func (i *Injector) Release() { i.once.Do(func() { close(i.released) }) }

// nowhere takes an answer that nobody will get.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}

// take counts one more unless limit (0: none) is reached.
func take(count *int, limit int) bool {
	if limit > 0 && *count >= limit {
		return false
	}
	*count++
	return true
}
