package orchestrator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

// planet is clouds, machines and agents that keep state, take (simulated) time
// and fail the test when they are used against the rules.
type planet struct {
	t   *testing.T
	dir string // of the run, to look into its journal

	mu       sync.Mutex
	faults   map[string]fault // by region id
	atOnce   map[string]int   // machines that a quota allows at a time, by cloud
	machines map[string]*fakeMachine
	calls    []string
	tests    []*fakeTest     // that run
	crowded  bool            // machines take part in all their tests at once
	opened   int             // connections
	tunings  int             // asked for
	made     int             // machines, ever
	dead     map[string]bool // addresses of machines that were taken away
	dark     [2]time.Time    // the controller's network is away, from and until
	partly   bool            // but the clouds are reached all the same
}

// fault makes one region misbehave. Zero fields don't.
type fault struct {
	launch      error
	launchTakes time.Duration
	launchHangs bool
	connect     error
	bootHangs   bool
	stillborn   bool          // the first machine never answers
	taken       time.Duration // so long after it was made the first machine is ended
	everTaken   bool          // and every other one
	push        error
	cut         map[State]int // so many connections break in that state, with the steps before it done
	tune        error
	agent       error
	admit       error
	dies        time.Duration // the agent, so long after it was started
	silent      bool          // the agent answers no test
	rtt         error
	throughput  error
	udp         error
	nothing     bool // the receiver gets nothing
	implausible bool
	destroy     error
	list        error
	noIPv6      bool // no machine has such an address
}

type fakeMachine struct {
	providers.Machine
	spec     providers.Spec
	first    bool
	ended    bool
	conns    []*fakeConn
	admitted []netip.Addr
	port     int
	serves   int // port
}

// measures is the address that tests come from.
func (m *fakeMachine) measures() netip.Addr {
	if m.spec.IPv6 {
		return m.IPv6
	}
	return m.Public
}

type fakeCloud struct {
	*planet
	name string
}

func newPlanet(t *testing.T) *planet {
	return &planet{t: t, dir: filepath.Join(t.TempDir(), "run"), faults: map[string]fault{}, machines: map[string]*fakeMachine{}, dead: map[string]bool{}}
}

func (p *planet) call(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, fmt.Sprintf(format, args...))
}

// outage takes the controller's network away, in a while.
func (p *planet) outage(in, lasts time.Duration) {
	p.dark = [2]time.Time{time.Now().Add(in), time.Now().Add(in + lasts)}
}

// light waits until there is a network, which may be now; false if ctx ended first.
func (p *planet) light(ctx context.Context) bool {
	if now := time.Now(); now.Before(p.dark[0]) || !now.Before(p.dark[1]) {
		return true
	}
	return sleep(ctx, time.Until(p.dark[1]))
}

func (c *fakeCloud) Cloud() string { return c.name }

func (c *fakeCloud) Launch(ctx context.Context, spec providers.Spec) (providers.Machine, error) {
	id := c.name + ":" + spec.Region
	c.call("launch %s", id)
	if err := spec.Check(); err != nil {
		c.t.Errorf("Launch %s: %v", id, err)
	}
	if !c.journalHas(func(r Record) bool { return r.What == RecordLaunch && r.Region == id }) {
		c.t.Errorf("Launch %s: the journal does not know of it", id)
	}
	f := c.faults[id]
	takes := f.launchTakes
	if takes == 0 {
		takes = 2 * time.Second
	}
	if f.launchHangs {
		takes = 1000 * time.Hour
	}
	if !sleep(ctx, takes) {
		return providers.Machine{}, providers.Wrap(c.name, spec.Region, "RunInstances", ctx.Err())
	}
	if err := c.darkness(); err != nil {
		return providers.Machine{}, err
	}
	if f.launch != nil {
		return providers.Machine{}, f.launch
	}
	return c.boot(id, spec), nil
}

func (c *fakeCloud) darkness() error {
	if now := time.Now(); c.partly || now.Before(c.dark[0]) || !now.Before(c.dark[1]) {
		return nil
	}
	return &providers.Error{Op: "any", Cloud: c.name, Kind: providers.Temporary, Err: errors.New("no route to host")}
}

func (c *fakeCloud) boot(id string, spec providers.Spec) providers.Machine {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.machines[id]; old != nil && spec.Instead != nil && old.ID == spec.Instead.ID {
		delete(c.machines, id)
	}
	if there := c.machines[id]; there != nil {
		if !spec.Adopt || spec.HostKey != there.spec.HostKey {
			c.t.Errorf("%s was launched twice", id)
		}
		return there.Machine
	}
	if most, limited := c.atOnce[c.name]; limited && spec.Instead == nil && c.living(c.name) >= most {
		c.t.Errorf("%s is one machine more than the quota allows", id)
	}
	c.made++
	n := byte(c.made)
	m := &fakeMachine{spec: spec, first: spec.Instead == nil, Machine: providers.Machine{
		Cloud: c.name, Region: spec.Region, Zone: zoneFor(spec), ID: fmt.Sprintf("i-%d", n), Type: spec.MachineType,
		Public: netip.AddrFrom4([4]byte{198, 18, 0, n}), User: "user", HostKey: spec.HostKey,
	}}
	if spec.IPv6 && !c.faults[id].noIPv6 {
		m.IPv6 = netip.AddrFrom16([16]byte{0x20, 0x01, 0, 2, 15: n})
	}
	c.machines[id] = m
	if f := c.faults[id]; f.taken > 0 && (m.first || f.everTaken) {
		time.AfterFunc(f.taken, func() { c.take(id, m) })
	}
	return m.Machine
}

func zoneFor(spec providers.Spec) string {
	return spec.Pick([]string{spec.Region + "-a", spec.Region + "-b"})[0]
}

// take ends a machine without a word to those connected to it.
func (c *fakeCloud) take(id string, m *fakeMachine) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.machines[id] == m {
		delete(c.machines, id)
	}
	m.ended, c.dead[m.measures().String()] = true, true
	for _, conn := range m.conns {
		time.AfterFunc(keepAlive, conn.kill)
	}
}

func (c *fakeCloud) Admit(ctx context.Context, run providers.Run, region string, port int, peers []netip.Addr) error {
	id := c.name + ":" + region
	c.call("admit %s", id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.faults[id].admit; err != nil {
		return err
	}
	m := c.machines[id]
	m.admitted, m.port = append(m.admitted, peers...), port
	return nil
}

func (c *fakeCloud) Destroy(ctx context.Context, runID string, regions []string) error {
	c.call("destroy %s %v", c.name, regions)
	if ctx.Err() != nil {
		c.t.Errorf("Destroy is called with a context that has ended")
	}
	if !sleep(ctx, 3*time.Second) {
		return ctx.Err()
	}
	if err := c.darkness(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, region := range regions {
		id := c.name + ":" + region
		if err := c.faults[id].destroy; err != nil {
			errs = append(errs, err)
			continue
		}
		delete(c.machines, id)
	}
	return errors.Join(errs...)
}

func (c *fakeCloud) List(ctx context.Context, runID string, regions []string) ([]providers.Resource, error) {
	if err := c.darkness(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []providers.Resource
	var errs []error
	for _, region := range regions {
		id := c.name + ":" + region
		errs = append(errs, c.faults[id].list)
		if m := c.machines[id]; m != nil {
			found = append(found, providers.Resource{Cloud: c.name, Region: region, Zone: m.Zone, Kind: "instance", ID: m.ID, RunID: runID})
		}
	}
	return found, errors.Join(errs...)
}

// living counts a cloud's machines.
func (p *planet) living(cloud string) (n int) {
	for id := range p.machines {
		if strings.HasPrefix(id, cloud+":") {
			n++
		}
	}
	return n
}

// alive are the machines that exist.
func (p *planet) alive() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.machines))
}

// count counts calls that begin with prefix.
func (p *planet) count(prefix string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.calls {
		if len(c) >= len(prefix) && c[:len(prefix)] == prefix {
			n++
		}
	}
	return n
}

func (p *planet) journal() []Record {
	data, err := os.ReadFile(filepath.Join(p.dir, "journal.jsonl"))
	if err != nil {
		p.t.Errorf("read journal: %v", err)
	}
	var records []Record
	for l := range bytes.Lines(data) {
		var r Record
		if err := json.Unmarshal(l, &r); err != nil {
			p.t.Errorf("journal line %q: %v", l, err)
		}
		records = append(records, r)
	}
	return records
}

func (p *planet) journalHas(which func(Record) bool) bool {
	return slices.ContainsFunc(p.journal(), which)
}
