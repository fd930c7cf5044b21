package e2e

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// near are four regions with short ways between them, two of each cloud.
	near = "aws:eu-central-1,aws:eu-west-1,gcp:europe-west3,gcp:europe-west2"
	// atOnce is how many sweeps are killed in one lab at the same time: most of
	// what they do is waiting.
	atOnce = 4
)

// phases are what a sweep does, in order.
var phases = []string{"before the create", "launching", "booting", "measuring", "teardown", "after the last delete", "ended"}

// TestChaos kills sweeps in one lab that outlives them, each at a random moment
// of its life, and cleans up after one half of them and resumes the other.
// Nothing may be left, and no pair that was measured may be lost.
//
// CHAOS_RUNS says how many (make chaos: 200), CHAOS_SEED brings the same moments again.
func TestChaos(t *testing.T) {
	t.Parallel() // with the others that mostly wait
	runs, seed := number(t, "CHAOS_RUNS", atOnce), number(t, "CHAOS_SEED", 7277)
	say("chaos: CHAOS_RUNS=%d CHAOS_SEED=%d", runs, seed)
	defer func() {
		if t.Failed() {
			say("chaos: FAILED; CHAOS_RUNS=%d CHAOS_SEED=%d brings the same moments again", runs, seed)
		}
	}()
	u := self(t)
	c := &chaos{user: u, lab: u.upMixedLab(t), patience: 10 * time.Minute, counts: map[string]int{}}
	c.course = c.watch(t)
	say("an undisturbed sweep takes %v", tenths(c.course.end))
	began, done := time.Now(), uint64(0)
	for done < runs {
		last := min(done+atOnce, runs)
		var wave sync.WaitGroup
		for n := done + 1; n <= last; n++ {
			wave.Go(func() {
				t.Run(fmt.Sprint("run ", n), func(t *testing.T) { c.test(t, c.draw(n, seed), runs) })
			})
		}
		wave.Wait()
		if done = last; t.Failed() {
			return
		}
		checkEmpty(t, u.run(t, time.Minute, "lab", "inventory", c.lab))
	}
	for _, p := range phases {
		say("  %4d killed %s", c.counts[p], p)
	}
	say("chaos: %d runs, nothing left, nothing lost; %v each", done, tenths(time.Since(began)/time.Duration(done)))
}

// upMixedLab brings a lab up in which one of AWS's two regions has no default VPC, so
// that each run makes one of its own.
func (u user) upMixedLab(t *testing.T) string {
	t.Helper()
	faults := filepath.Join(t.TempDir(), "faults.yaml")
	write(t, faults, "no_default_vpc: [eu-west-1]\nquotas:\n- {cloud: aws, quota: L-F678F1CE, limit: 20}\n")
	return u.upLab(t, "--lab-faults", faults)
}

// number is a setting from the environment.
func number(t *testing.T, name string, usual uint64) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), fmt.Sprint(usual)), 10, 64)
	if err != nil || n == 0 {
		t.Fatalf("%s=%s: not a number above zero", name, os.Getenv(name))
	}
	return n
}

// say shows how far a long test is, while it runs.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func tenths(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

// chaos is a lab in which sweeps are killed.
type chaos struct {
	user     user
	lab      string
	patience time.Duration // with a resume or a cleanup
	course   course

	mu     sync.Mutex
	counts map[string]int // kills by phase
}

// course is how an undisturbed sweep went: when each line of its journal was
// written, and when it ended, after its start.
type course struct {
	lines []time.Duration
	end   time.Duration
}

// strike is when one sweep is killed: so long after so many lines of its
// journal. That way the moment is the same on a busier computer.
type strike struct {
	n      uint64
	lines  int
	delay  time.Duration
	resume bool // afterwards; else clean up
}

// draw takes a moment of the whole course, each as likely as another.
func (c *chaos) draw(n, seed uint64) strike {
	at := time.Duration(rand.New(rand.NewPCG(seed, n)).Int64N(int64(c.course.end)))
	s := strike{n: n, delay: at, resume: n%2 == 0}
	for i, line := range c.course.lines {
		if line <= at {
			s.lines, s.delay = i+1, at-line
		}
	}
	return s
}

// sweep starts a short sweep, which keeps its run in out.
func (c *chaos) sweep(t *testing.T, out string) *started {
	t.Helper()
	return c.user.start(t, "sweep", "--lab="+c.lab, "--out", out, "--regions", near,
		"--duration", "200ms", "--rtt-probes", "3", "--rtt-interval", "10ms")
}

// watch lets a sweep run to its end.
func (c *chaos) watch(t *testing.T) (all course) {
	t.Helper()
	s := c.sweep(t, filepath.Join(c.user.dir, "undisturbed"))
	journal := filepath.Join(c.user.dir, "undisturbed", "*", "journal.jsonl")
	for ended := false; !ended; {
		select {
		case <-s.done:
			ended = true
		case <-time.After(2 * time.Millisecond):
		}
		for range linesOf(journal) - len(all.lines) {
			all.lines = append(all.lines, time.Since(s.began))
		}
	}
	all.end = time.Since(s.began)
	s.wait(t, time.Second).want(t, 0, "12 pairs: 12 ok", "nothing is left")
	return all
}

// linesOf counts the lines of the only file that the pattern matches, if there is one.
func linesOf(pattern string) int {
	found, _ := filepath.Glob(pattern)
	if len(found) != 1 {
		return 0
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return 0
	}
	return strings.Count(string(data), "\n")
}

// test strikes once and holds what is left against what was promised.
func (c *chaos) test(t *testing.T, s strike, of uint64) {
	began := time.Now()
	out := filepath.Join(c.user.dir, fmt.Sprint("run-", s.n))
	victim := c.sweep(t, out)
	s.wait(t, victim, filepath.Join(out, "*", "journal.jsonl"))
	v := c.kill(t, victim, out)
	wrong := c.goOn(t, v, s.resume)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[v.phase]++
	verdict, then := "ok", "cleaned up"
	if s.resume {
		then = "resumed"
	}
	for _, w := range wrong {
		t.Error(w)
		verdict = "FAILED"
	}
	say("%4d/%d  killed after %5v, %s, %d pairs measured; %s in %v: %s", s.n, of,
		tenths(v.age), v.phase, len(v.rows), then, tenths(time.Since(began)-v.age), verdict)
	if verdict == "ok" {
		os.RemoveAll(out)
	}
}

// wait returns when the moment has come, or the sweep has ended before.
func (s strike) wait(t *testing.T, victim *started, journal string) {
	t.Helper()
	ended := false
	eventually(t, 2*time.Minute, fmt.Sprint(s.lines, " lines in the journal"), func() bool {
		for range 10 { // more often than eventually looks
			select {
			case <-victim.done:
				ended = true
				return true
			case <-time.After(5 * time.Millisecond):
			}
			if linesOf(journal) >= s.lines {
				return true
			}
		}
		return false
	})
	if !ended {
		select {
		case <-victim.done:
		case <-time.After(s.delay):
		}
	}
}
