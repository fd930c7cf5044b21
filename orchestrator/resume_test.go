package orchestrator

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/results"
)

// killed is what is left of a run whose process ended at once after some event:
// its files, and the machines that were there.
func (p *planet) killed(n int, when func(Event) bool) *planet {
	p.t.Helper()
	after := newPlanet(p.t)
	after.atOnce = p.atOnce
	cfg := p.config(n)
	cfg.Command, cfg.Version = map[string]string{"lab": "demo"}, "1.2"
	return p.killedWith(cfg, after, when)
}

// killedWith is what is left of a run of cfg.
func (p *planet) killedWith(cfg Config, after *planet, when func(Event) bool) *planet {
	p.t.Helper()
	cfg.Observer = func(e Event) {
		if len(after.machines) > 0 || !when(e) {
			return
		}
		if err := os.CopyFS(after.dir, os.DirFS(p.dir)); err != nil {
			p.t.Error(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		after.made = p.made
		for id, m := range p.machines {
			twin := *m
			twin.admitted, twin.serves, twin.conns = slices.Clone(m.admitted), 0, nil
			after.machines[id] = &twin
		}
	}
	_, err := Run(p.t.Context(), cfg)
	if _, over := errors.AsType[*BudgetError](err); err != nil && !over {
		p.t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, secretsFile)); !errors.Is(err, os.ErrNotExist) {
		p.t.Errorf("the keys are there after the run: %v", err)
	}
	return after
}

// resume goes on with the run in p.dir.
func (p *planet) resume(change func(*Config)) (Summary, error) {
	p.t.Helper()
	past, err := Reopen(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := Reopen(p.dir); !errors.Is(err, errHeld) {
		p.t.Errorf("a second Reopen = %v, want that it is held", err)
	}
	cfg, world := past.Config(), p.config(2)
	cfg.Providers, cfg.Remote, cfg.ControllerAddr = world.Providers, world.Remote, world.ControllerAddr
	if change != nil {
		change(&cfg)
	}
	return Resume(p.t.Context(), past, cfg)
}

func pairs(n int) func(Event) bool {
	return func(e Event) bool { return e.Kind == PairEnded && e.Progress.Done() == n }
}

func TestResume(t *testing.T) {
	for name, when := range map[string]func(Event) bool{
		"while launching": func(e Event) bool { return e.Kind == RegionChanged && e.State == StateBooting },
		"after a pair":    pairs(1),
		"after many":      pairs(11),
		"before teardown": func(e Event) bool { return e.Phase == PhaseTeardown },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t).killed(4, when)
				before, there := p.rows(), len(p.alive())
				p.tear(samplesFile)
				s, err := p.resume(nil)
				if err != nil || s.Pairs != 12 || s.OK != 12 || s.Teardown != nil {
					t.Fatalf("Resume = %+v, %v; want 12 pairs ok", s, err)
				}
				after := p.rows()
				if diff := cmp.Diff(before, after[:len(before)], cmpopts.EquateEmpty()); diff != "" || len(after) != 12 {
					t.Errorf("%d rows; those from before the kill changed (-before +after):\n%s", len(after), diff)
				}
				if left := p.alive(); len(left) > 0 || there == 0 {
					t.Errorf("left alive: %v of %d", left, there)
				}
				p.checkOver()
				p.checkSamples(after, 11)
			})
		})
	}
}

// tear leaves half a line at the end of a file, as a kill does.
func (p *planet) tear(name string) {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(p.dir, name), append(data, "20261130t17"...), 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// checkSamples: at least so many of the rows have both of their samples, none
// has others, and none of them is in the journal.
func (p *planet) checkSamples(rows []results.Row, least int) {
	p.t.Helper()
	file, err := os.Open(filepath.Join(p.dir, samplesFile))
	if err != nil {
		p.t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		p.t.Fatal(err)
	}
	samples := map[direction]int{}
	for _, l := range lines[1:] {
		samples[direction{l[1] + ":" + l[2], l[3] + ":" + l[4]}]++
	}
	have := 0
	for _, r := range rows {
		if n := samples[direction{r.FromCloud + ":" + r.FromRegion, r.ToCloud + ":" + r.ToRegion}]; n == 2 {
			have++
		} else if n != 0 {
			p.t.Errorf("%d samples of %s to %s, want 2", n, r.FromRegion, r.ToRegion)
		}
	}
	journal, err := os.ReadFile(filepath.Join(p.dir, journalFile))
	if have < least || len(lines) != 1+2*have || err != nil || strings.Contains(string(journal), `"samples"`) {
		p.t.Errorf("%d rows with samples, want %d; %d lines; journal %v", have, least, len(lines), err)
	}
}

// rows reads the results, where every pair may be once.
func (p *planet) rows() []results.Row {
	p.t.Helper()
	rows, err := readRows(p.dir)
	if err != nil {
		p.t.Error(err)
	}
	seen := map[direction]bool{}
	for _, r := range rows {
		d := direction{r.FromCloud + ":" + r.FromRegion, r.ToCloud + ":" + r.ToRegion}
		if seen[d] {
			p.t.Errorf("%v is there twice", d)
		}
		seen[d] = true
	}
	return rows
}

// checkOver reads what a finished run leaves.
func (p *planet) checkOver() {
	p.t.Helper()
	if _, err := os.Stat(filepath.Join(p.dir, secretsFile)); !errors.Is(err, os.ErrNotExist) {
		p.t.Errorf("the keys are still there: %v", err)
	}
	past, err := Reopen(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	defer past.Close()
	if !past.Finished() || past.Secrets != nil || past.Manifest.Command["lab"] != "demo" || past.Manifest.Version != "1.2" {
		p.t.Errorf("reopened: finished %v, %+v", past.Finished(), past.Manifest)
	}
	for _, r := range past.Manifest.Regions {
		if r.Machine == nil || r.Machine.HostKey == "" || r.Probe == nil || r.Probe.CPUs != 2 {
			p.t.Errorf("the manifest lacks the machine of %s: %+v", r.Region, r)
		}
	}
}

func TestResumeOfFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		p.killed(2, pairs(1))
		s, err := p.resume(nil)
		if err != nil || s.OK != 2 || p.count("launch") != 2 || p.count("destroy") < 2 {
			t.Errorf("Resume = %+v, %v; calls %v; want only teardown", s, err, p.calls)
		}
	})
}

func TestResumeOfExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t).killed(4, pairs(3))
		time.Sleep(7 * time.Hour)
		s, err := p.resume(nil)
		if !errors.Is(err, errExpired) || !s.Expired || s.OK != 3 || s.Skipped != 9 || s.Teardown != nil {
			t.Errorf("Resume = %+v, %v; want it expired, 9 pairs skipped", s, err)
		}
		if left := p.alive(); len(left) > 0 || p.count("launch") > 0 {
			t.Errorf("left alive: %v; calls %v", left, p.calls)
		}
	})
}

func TestResumeWithoutKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t).killed(4, pairs(3))
		s, err := p.resume(func(c *Config) { c.Remote = nil })
		if !errors.Is(err, errNoKeys) || s.Interrupted || s.OK != 3 || s.Skipped != 9 || len(p.alive()) > 0 {
			t.Errorf("Resume = %+v, %v; left %v", s, err, p.alive())
		}
	})
}

// While a run goes on its keys are its owner's alone, and nobody else's is the run.
func TestRunIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		cfg := p.config(2)
		cfg.Observer = func(e Event) {
			if e.Kind != RegionChanged {
				return
			}
			if info, err := os.Stat(filepath.Join(p.dir, secretsFile)); err != nil || info.Mode() != 0o600 {
				t.Errorf("keys: %v, %v; want mode 0600", info, err)
			}
			if _, err := Reopen(p.dir); !errors.Is(err, errHeld) {
				t.Errorf("Reopen = %v, want that the run is held", err)
			}
		}
		if _, err := Run(t.Context(), cfg); err != nil {
			t.Error(err)
		}
	})
}

func TestReopenBadFolders(t *testing.T) {
	manifest, err := json.Marshal(Manifest{Schema: 99, Version: "9.9"})
	if err != nil {
		t.Fatal(err)
	}
	launch := `{"what":"launch","region":"aws:us-east-1"}` + "\n"
	for name, c := range map[string]struct {
		files map[string]string
		is    error
		says  string
	}{
		"no run":             {nil, os.ErrNotExist, "journal"},
		"nothing made":       {map[string]string{journalFile: "", secretsFile: "x"}, ErrNothingMade, ""},
		"manifest is gone":   {map[string]string{journalFile: launch}, os.ErrNotExist, "run.json"},
		"newer schema":       {map[string]string{journalFile: "", manifestFile: string(manifest)}, nil, "9.9"},
		"rubbish in between": {map[string]string{journalFile: "{\n" + launch}, nil, "journal"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Reopen(dir)
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Reopen = %v, want %v that says %q", err, c.is, c.says)
			}
			if _, err := os.Stat(filepath.Join(dir, secretsFile)); err == nil {
				t.Errorf("the keys of nothing are left")
			}
		})
	}
}

// Wherever a kill cuts a journal, the records before the cut are read.
func TestParseTornJournal(t *testing.T) {
	var data []byte
	var ends []int
	for _, r := range []Record{{What: RecordRun}, {What: RecordLaunch, Region: "aws:a"}, {What: RecordLost, Error: "x\ny"}} {
		l, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		data = append(append(data, l...), '\n')
		ends = append(ends, len(data))
	}
	for cut := range len(data) + 1 {
		for _, rubbish := range []string{"", "\x00\x00\x00"} {
			want := 0
			for _, end := range ends {
				if end <= cut {
					want++
				}
			}
			records, whole, err := parseJournal(append(slices.Clone(data[:cut]), rubbish...))
			if err != nil || len(records) != want || want > 0 && whole != ends[want-1] {
				t.Fatalf("cut at %d: %d records of %d bytes, %v; want %d", cut, len(records), whole, err, want)
			}
		}
	}
}

func TestRecall(t *testing.T) {
	east := &providers.Machine{ID: "i-1", HostKey: "old"}
	h := recall([]Record{
		{What: RecordLaunch, Region: "aws:east"}, {What: RecordLaunch, Region: "gcp:west"},
		{What: RecordLaunched, Region: "aws:east", Machine: east},
		{What: RecordDestroyed, Cloud: "aws"}, {What: RecordDestroyed, Cloud: "gcp", Error: "no route"},
	})
	if got := h.clouds(); !slices.Equal(got, []string{"aws", "gcp"}) || h.clean() || !h.cleared["aws"] {
		t.Errorf("clouds %v, cleared %v", got, h.cleared)
	}
	if got := h.pinned("aws:east", providers.Machine{ID: "i-1", HostKey: "new"}); got.HostKey != "old" {
		t.Errorf("host key %q, want the one it was launched with", got.HostKey)
	}
	if got := h.pinned("aws:east", providers.Machine{ID: "i-2", HostKey: "new"}); got.HostKey != "new" {
		t.Errorf("host key %q of another machine", got.HostKey)
	}
	again := recall([]Record{{What: RecordLaunch, Region: "aws:east"}, {What: RecordDestroyed, Cloud: "aws"}, {What: RecordLaunch, Region: "aws:east"}})
	if again.clean() || len(again.tried["aws"]) != 1 {
		t.Errorf("launched after the teardown: clean %v, tried %v", again.clean(), again.tried)
	}
}

func TestManifestRoundTrip(t *testing.T) {
	cfg := newPlanet(t).config(5).withDefaults()
	cfg.Expires = cfg.Expires.UTC().Truncate(time.Second)
	cfg.Choice = Choice{Networks: map[string]string{"aws:east": "vpc-1"}, Path: PathPrivate, NetworkTier: providers.StandardTier, Spot: true, Tags: map[string]string{"team": "net"}, OtherTypes: map[string][]string{"aws": {"t3a.nano"}}, Zones: map[string][]string{"aws:east": {"east-b"}}}
	cfg.Test.Options = wire.TCPOptions{SendBufferBytes: 1 << 20, ReceiveWindowBytes: 1 << 16, MSSBytes: 1000, NoDelay: true, DSCP: 46, PacingBps: 5e6, RateBps: 4e6, ClientPort: 40000}
	cfg.Isolation, cfg.ProbePort, cfg.Tune, cfg.BudgetUSD = plan.Together, 9000, true, 1.5
	data, err := json.Marshal(cfg.manifest(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	got, err := m.config()
	if err != nil || got.Test != cfg.Test || got.Isolation != cfg.Isolation || got.ProbePort != cfg.ProbePort || got.Tune != cfg.Tune || got.BudgetUSD != cfg.BudgetUSD || !got.Expires.Equal(cfg.Expires) || len(got.Pairs) != len(cfg.Pairs) {
		t.Errorf("config = %+v, %v", got, err)
	}
	if diff := cmp.Diff(cfg.Choice, got.Choice); diff != "" {
		t.Errorf("choice (-want +got):\n%s", diff)
	}
	name := func(p plan.Pair) string { return p.String() }
	if diff := cmp.Diff(texts(cfg.Pairs, name), texts(got.Pairs, name)); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
}

func texts[T any](list []T, text func(T) string) []string {
	var all []string
	for _, x := range list {
		all = append(all, text(x))
	}
	return all
}
