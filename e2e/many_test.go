package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// beyondSlowest is how much longer all regions may take than the slowest of them,
// or half as long as that on a slow computer: they all wait for its CPU.
const beyondSlowest = 3 * time.Second

// TestManyRegions launches every region there is, reaches each and tears all
// down: both as fast as the slowest region allows, however busy this computer
// is. The pairs are few and near.
func TestManyRegions(t *testing.T) {
	again(t, func(int) (wrong string) { return sweepMany(t) })
}

func sweepMany(t *testing.T) (wrong string) {
	t.Helper()
	u := self(t)
	lab := u.upLab(t)
	pairs := neighbours(t, u)
	s := u.start(t, "sweep", "--lab="+lab, "--pairs", strings.Join(pairs, ","), "--stop", "duration", "--duration", "2s", "--rtt-probes", "3")
	s.waitFor(t, "machine 77/77 ready", 2*time.Minute)
	teardown := watchEnd(t, u, lab, s)
	o := s.wait(t, time.Minute)
	o.want(t, 0, "39 pairs: 39 ok", "machine 77/77 ready", "nothing is left")
	checkEmpty(t, u.run(t, time.Minute, "lab", "inventory", lab))

	launch := map[string]span{}
	var begin, ready, destroy, over time.Time
	for _, r := range journalOf(t, u.runFolder(t)) {
		switch r.What {
		case "run":
			begin = r.Time
		case "launch":
			launch[r.Region] = span{from: r.Time}
		case "launched":
			launch[r.Region] = span{launch[r.Region].from, r.Time}
		case "ready":
			ready = r.Time
		case "destroy":
			destroy = r.Time
		case "destroyed":
			over = r.Time
		}
	}
	wrong = checkTogether(t, "launched", begin, launch)
	for id, s := range teardown {
		if s.from.Before(destroy) { // it was not looked at in between
			teardown[id] = span{destroy, s.to}
		}
	}
	wrong = cmp.Or(wrong, checkTogether(t, "torn down", destroy, teardown))
	t.Logf("ready %v after the start, known to be gone %v after the end; all in all %v", tenths(ready.Sub(begin)), tenths(over.Sub(destroy)), tenths(o.took))
	return wrong
}

// span is how long one region took.
type span struct{ from, to time.Time }

// checkTogether holds the time for all regions against that of the slowest.
func checkTogether(t *testing.T, what string, begin time.Time, regions map[string]span) (wrong string) {
	t.Helper()
	var slowest, all time.Duration
	for _, s := range regions {
		slowest, all = max(slowest, s.to.Sub(s.from)), max(all, s.to.Sub(begin))
	}
	t.Logf("%d regions %s in %v, the slowest in %v", len(regions), what, tenths(all), tenths(slowest))
	if limit := slowest + max(beyondSlowest, slowest/2); len(regions) != 77 || all > limit {
		return fmt.Sprintf("%d regions %s in %v, the slowest of them in %v: want 77 in at most %v", len(regions), what, all, slowest, limit)
	}
	return ""
}

// watchEnd looks at the lab until the sweep has ended, and returns for each
// region when its machine was last seen running, and when all in it was gone.
func watchEnd(t *testing.T, u user, lab string, s *started) map[string]span {
	t.Helper()
	seen := map[string]span{}
	for ended := false; !ended; {
		select {
		case <-s.done:
			ended = true
		case <-time.After(200 * time.Millisecond): // a look costs time too
		}
		look := span{from: time.Now()}
		left := map[string]bool{}
		for _, i := range readInventory(t, u.run(t, time.Minute, "lab", "inventory", lab)).left() {
			id := i.Cloud + ":" + i.Region
			left[id] = true
			if i.Kind == "instance" && strings.EqualFold(i.State, "running") {
				seen[id] = look
			}
		}
		for id, s := range seen {
			if !left[id] && s.to.IsZero() {
				seen[id] = span{s.from, time.Now()}
			}
		}
	}
	return seen
}

// neighbours pairs every commercial region with the next on the list.
func neighbours(t *testing.T, u user) []string {
	t.Helper()
	var names []string
	for line := range strings.Lines(u.run(t, time.Minute, "regions", "--clouds", "aws,gcp", "--csv").stdout) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		if cells[0] != "cloud" && !strings.Contains(line, "partition") {
			names = append(names, cells[0]+":"+cells[1])
		}
	}
	var pairs []string
	for two := range slices.Chunk(names, 2) {
		if len(two) == 1 { // an odd number of regions
			two = append(two, names[0])
		}
		pairs = append(pairs, two[0]+">"+two[1])
	}
	return pairs
}
