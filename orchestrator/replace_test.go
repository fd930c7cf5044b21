package orchestrator

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/results"
)

const taken = "aws:eu-west-1"

// TestReplaced takes a machine away in the middle of the tests. Rows from before
// stay, and all figures of a pair are of the same two machines.
func TestReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		p.faults[taken] = fault{taken: 20 * time.Second}
		d := p.run(t.Context(), p.config(6))
		if d.err != nil || d.counts() != [3]int{30, 0, 0} || d.Teardown != nil || len(d.Lost) > 0 {
			t.Fatalf("Run = %+v, %v", d.Summary, d.err)
		}
		if n := p.count("launch " + taken); n != 2 {
			t.Errorf("%d launches in its region, want 2", n)
		}
		zones := map[string]int{}
		for _, r := range d.rows {
			if r.FromCloud+":"+r.FromRegion == taken {
				zones[r.FromZone]++
			}
		}
		if zones["eu-west-1-a"] == 0 || zones["eu-west-1-b"] == 0 {
			t.Errorf("rows by zone: %v, want some of the old and some of the new machine", zones)
		}
		p.checkFreshRTTs(d.rows)
	})
}

// checkFreshRTTs reads in the journal that each pair of the new machine has a
// round trip measured since that was launched.
func (p *planet) checkFreshRTTs(rows []results.Row) {
	p.t.Helper()
	fresh := map[direction]bool{}
	for _, r := range p.journal() {
		switch {
		case r.What == RecordLaunch && r.Instead != nil:
			clear(fresh)
		case r.What == RecordRTT && r.Error == "":
			fresh[direction{r.From, r.To}] = true
		}
	}
	for _, r := range rows {
		d := direction{r.FromCloud + ":" + r.FromRegion, r.ToCloud + ":" + r.ToRegion}
		if isNew := r.FromZone == "eu-west-1-b" || r.ToZone == "eu-west-1-b"; isNew && !fresh[d] {
			p.t.Errorf("%v has the round trip of the machine that is gone", d)
		}
	}
}

// TestReplacedOnce: what takes the second machine too is not our luck.
func TestReplacedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		p.faults[taken] = fault{taken: 14 * time.Second, everTaken: true}
		d := p.run(t.Context(), p.config(6))
		if d.err != nil || d.OK < 20 || d.Failed == 0 || d.Skipped > 0 || len(p.alive()) > 0 {
			t.Errorf("Run = %+v, %v", d.Summary, d.err)
		}
		if n := p.count("launch " + taken); n != 2 {
			t.Errorf("%d launches in its region, want 2", n)
		}
		if got := d.errorsOf(results.StatusFailed); len(got) != 1 || got[0] != taken+": "+errTaken.Error() {
			t.Errorf("failed because %q", got)
		}
	})
}

// TestResumeOfReplacing kills the controller between the intent to replace a
// machine and the call: the next one finishes it, and replaces no more.
func TestResumeOfReplacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		p.faults["aws:us-east-1"] = fault{stillborn: true}
		launches := 0
		p = p.killed(4, func(e Event) bool {
			if e.Region == "aws:us-east-1" && e.State == StateLaunching {
				launches++
			}
			return launches == 2
		})
		p.faults["aws:us-east-1"] = fault{stillborn: true}
		s, err := p.resume(nil)
		if err != nil || s.OK != 12 || s.Teardown != nil || len(p.alive()) > 0 {
			t.Fatalf("Resume = %+v, %v", s, err)
		}
		if n := p.count("launch aws:us-east-1"); n != 1 {
			t.Errorf("the resume launched %d times, want once", n)
		}
		p.checkOver()
	})
}

// TestCutBeforeReady breaks connections between log-in and an agent that listens:
// the same machine is dialled again, and not for ever.
func TestCutBeforeReady(t *testing.T) {
	for name, tt := range map[string]struct {
		cut  map[State]int
		want [3]int
	}{
		"while pushing":  {map[State]int{StatePushing: 1}, [3]int{30, 0, 0}},
		"at the start":   {map[State]int{StateStarting: 1}, [3]int{30, 0, 0}},
		"when it serves": {map[State]int{StateWaiting: 1}, [3]int{30, 0, 0}},
		"each in turn":   {map[State]int{StatePushing: 1, StateStarting: 2, StateWaiting: 3}, [3]int{30, 0, 0}},
		"every time":     {map[State]int{StateStarting: 1000}, [3]int{20, 10, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				p.faults[taken] = fault{cut: tt.cut}
				d := p.run(t.Context(), p.config(6))
				if d.err != nil || d.counts() != tt.want || d.Teardown != nil || len(p.alive()) > 0 {
					t.Errorf("Run = %+v, %v", d.Summary, d.err)
				}
				if n := p.count("launch " + taken); n != 1 {
					t.Errorf("%d launches in its region, want 1", n)
				}
			})
		})
	}
}
