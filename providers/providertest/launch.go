package providertest

import (
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/providers"
)

func testLaunch(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	spec := c.spec(t, run("r1"), c.Regions[0])
	m := launch(t, p, spec)
	if m.Cloud != c.Name || m.Region != spec.Region || m.Type != spec.MachineType {
		t.Errorf("machine is %s %s %s, want %s %s %s", m.Cloud, m.Region, m.Type, c.Name, spec.Region, spec.MachineType)
	}
	if m.ID == "" || m.Image == "" || m.User == "" {
		t.Errorf("ID %q, image %q, user %q: want all", m.ID, m.Image, m.User)
	}
	if !strings.HasPrefix(m.Zone, spec.Region) {
		t.Errorf("zone = %q, want one of %s", m.Zone, spec.Region)
	}
	if !m.Public.Is4() || !m.Private.Is4() || m.Public == m.Private {
		t.Errorf("addresses = %v, %v; want two IPv4 ones", m.Public, m.Private)
	}
	if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(m.HostKey)); err != nil || key.Type() != ssh.KeyAlgoED25519 {
		t.Errorf("host key %q: %v; want an ed25519 key", m.HostKey, err)
	}
	destroyed(t, w, "r1", c.Regions[0])
}

func testLaunchTwice(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	spec := c.spec(t, run("r1"), c.Regions[0])
	first, second := launch(t, p, spec), launch(t, p, spec)
	if first.ID != second.ID || first.Public != second.Public {
		t.Errorf("the same spec gave %s at %v, then %s at %v", first.ID, first.Public, second.ID, second.Public)
	}
	destroyed(t, w, "r1", c.Regions[0])
	launch(t, p, spec)
	destroyed(t, w, "r1", c.Regions[0])
}

// testLaunchAdopts: a controller that goes on with a run, elsewhere, gets the
// machine that is there, and SSH moves with it. Where none is, it gets a new one.
func testLaunchAdopts(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	spec := c.spec(t, run("r1"), c.Regions[0])
	first := launch(t, p, spec)
	spec.Adopt, spec.SSHFrom = true, elsewhere
	for range 2 {
		if second := launch(t, p, spec); second != first {
			t.Errorf("adopted %+v, want %+v", second, first)
		}
	}
	if !w.Reaches(first, "tcp", 22, elsewhere) {
		t.Errorf("the controller does not reach SSH from its new address")
	}
	if w.Reaches(first, "tcp", 22, controller) {
		t.Errorf("SSH is still open to the controller's old address")
	}
	destroyed(t, w, "r1", c.Regions[0])
	if again := launch(t, p, spec); again.Public == first.Public && again.ID == first.ID {
		t.Errorf("adopted %s, which was destroyed", again.ID)
	}
	destroyed(t, w, "r1", c.Regions[0])
}

// testLaunchSpot: what is a spot machine and what isn't is the cloud's to say,
// also of one that is adopted.
func testLaunchSpot(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	if m := launch(t, p, c.spec(t, run("r0"), c.Regions[0])); m.Spot {
		t.Errorf("a spot machine, unasked for")
	}
	spec := c.spec(t, run("r1"), c.Regions[0])
	spec.Spot = true
	first := launch(t, p, spec)
	if !first.Spot {
		t.Errorf("no spot machine")
	}
	spec.Adopt = true
	if second := launch(t, p, spec); second != first {
		t.Errorf("adopted %+v, want %+v", second, first)
	}
	if err := p.Destroy(testContext(t), "r0", c.Regions[:1]); err != nil {
		t.Errorf("Destroy: %v", err)
	}
	destroyed(t, w, "r1", c.Regions[0])
}

// testLaunchInstead: a machine is replaced by one in another zone, and only
// once, however often that is asked for.
func testLaunchInstead(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	spec := c.spec(t, run("r1"), c.Regions[0])
	first := launch(t, p, spec)
	spec.Instead = &first
	second := launch(t, p, spec)
	if second.Zone == first.Zone || second.Public == first.Public {
		t.Errorf("%s in %s at %v was replaced by %s in %s at %v", first.ID, first.Zone, first.Public, second.ID, second.Zone, second.Public)
	}
	if w.Reaches(first, "tcp", 22, controller) || !w.Reaches(second, "tcp", 22, controller) {
		t.Errorf("SSH does not lead to the new machine alone")
	}
	for _, spec.Adopt = range []bool{false, true} {
		if again := launch(t, p, spec); again.ID != second.ID || again.Public != second.Public {
			t.Errorf("replaced again (Adopt %v): %s at %v, want %s at %v", spec.Adopt, again.ID, again.Public, second.ID, second.Public)
		}
	}
	destroyed(t, w, "r1", c.Regions[0])
}

// testLaunchInZone: the best of the zones that are wished for and exist.
func testLaunchInZone(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	first := launch(t, p, c.spec(t, run("r1"), c.Regions[0])).Zone
	after := func(n byte) string { return first[:len(first)-1] + string(first[len(first)-1]+n) } // zones end in letters
	spec := c.spec(t, run("r2"), c.Regions[0])
	spec.Zones = []string{spec.Region + "-nowhere", after(1), after(2), first} // some accounts miss a letter
	if m := launch(t, p, spec); m.Zone != after(1) && m.Zone != after(2) {
		t.Errorf("zone = %s, want %s or %s", m.Zone, after(1), after(2))
	}
	if err := p.Destroy(testContext(t), "r2", c.Regions[:1]); err != nil {
		t.Errorf("Destroy: %v", err)
	}
	destroyed(t, w, "r1", c.Regions[0])
}

// testLaunchInNoZone: a region without the zone is left out, with the reason.
func testLaunchInNoZone(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	spec := c.spec(t, run("r1"), c.Regions[0])
	spec.Zones = []string{spec.Region + "-nowhere"}
	_, err := p.Launch(testContext(t), spec)
	if e, ok := errors.AsType[*providers.Error](err); !ok || e.Kind != providers.Skip || !strings.Contains(err.Error(), spec.Zones[0]) {
		t.Errorf("err = %v, want one that skips the region for want of the zone", err)
	}
	destroyed(t, w, "r1", c.Regions[0])
}

// testLaunchTags: the user's tags are on everything, and hide none of ours.
func testLaunchTags(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	spec := c.spec(t, run("r1"), c.Regions[0])
	spec.Run.Tags = map[string]string{"team": "net-4", "cost_center": "17", "empty": ""}
	launch(t, p, spec)
	if len(w.Left()) == 0 {
		t.Errorf("nothing was made")
	}
	for key, value := range spec.Run.Tags {
		if bare := w.Untagged(key, value); len(bare) > 0 {
			t.Errorf("without the tag %s=%s: %v", key, value, bare)
		}
	}
	if bare := w.Untagged(providers.TagRun, "r1"); len(bare) > 0 {
		t.Errorf("without our own tag: %v", bare)
	}
	destroyed(t, w, "r1", c.Regions[0])
}

func testLaunchRegionsAtOnce(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	r, ctx := run("r1"), testContext(t)
	specs := []providers.Spec{c.spec(t, r, c.Regions[0]), c.spec(t, r, c.Regions[1])}
	machines, errs := make([]providers.Machine, 2), make([]error, 2)
	var wg sync.WaitGroup
	for i, spec := range specs {
		wg.Go(func() { machines[i], errs[i] = p.Launch(ctx, spec) })
	}
	wg.Wait()
	for i, m := range machines {
		if errs[i] != nil || m.Region != c.Regions[i] {
			t.Errorf("Launch in %s = %s, %v", c.Regions[i], m.Region, errs[i])
		}
	}
	if machines[0].Public == machines[1].Public {
		t.Errorf("both machines are at %v", machines[0].Public)
	}
	destroyed(t, w, "r1", c.Regions[:]...)
}

func testLaunchBadSpec(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	for name, spoil := range map[string]func(*providers.Spec){
		"run id":       func(s *providers.Spec) { s.Run.ID = "Not_A_Label" },
		"long run id":  func(s *providers.Spec) { s.Run.ID = strings.Repeat("r", providers.MaxRunID+1) },
		"no expiry":    func(s *providers.Spec) { s.Run.Expires = time.Time{} },
		"no machine":   func(s *providers.Spec) { s.MachineType = "" },
		"no ssh from":  func(s *providers.Spec) { s.SSHFrom = netip.Addr{} },
		"no login key": func(s *providers.Spec) { s.AuthorizedKey = "" },
	} {
		spec := c.spec(t, run("r1"), c.Regions[0])
		spoil(&spec)
		_, err := p.Launch(testContext(t), spec)
		if e, ok := errors.AsType[*providers.Error](err); !ok || e.Cloud != c.Name || e.Region != spec.Region {
			t.Errorf("%s: err = %v, want one of %s %s", name, err, c.Name, spec.Region)
		}
	}
	if left := w.Left(); len(left) > 0 {
		t.Errorf("bad specs made %v", left)
	}
}

func testLaunchUnknownRegion(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	_, err := p.Launch(testContext(t), c.spec(t, run("r1"), "atlantis-1"))
	if e, ok := errors.AsType[*providers.Error](err); !ok || e.Cloud != c.Name || e.Region != "atlantis-1" {
		t.Errorf("err = %v, want one that names the region", err)
	}
	destroyed(t, w, "r1", c.Regions[:]...)
}

func testSSHFromControllerOnly(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	m := launch(t, p, c.spec(t, run("r1"), c.Regions[0]))
	if !w.Reaches(m, "tcp", 22, controller) {
		t.Errorf("the controller does not reach SSH")
	}
	if w.Reaches(m, "tcp", 22, stranger) {
		t.Errorf("a stranger reaches SSH")
	}
	if w.Reaches(m, "tcp", probePort, controller) || w.Reaches(m, "udp", probePort, stranger) {
		t.Errorf("the probe port is open before Admit")
	}
	destroyed(t, w, "r1", c.Regions[0])
}
