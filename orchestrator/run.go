package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/providers"
)

// run is one run while it lasts.
type run struct {
	cfg      Config
	journal  *journal
	files    files
	rows     pairRows // that the file has
	reporter *reporter
	ledger   *ledger
	budget   *budget
	batches  [][]plan.Pair
	leftOut  []plan.Pair    // that no batch has
	fleet    *fleet         // of the present batch
	measured []*measurement // what is left out, and then each batch's
	manifest Manifest
	history  history // of earlier processes, and of batches that are torn down
	barred   error   // why nothing may be measured

	phase   Phase
	since   time.Time // of the phase
	took    map[Phase]time.Duration
	stopped error // why not everything was measured
	left    []providers.Resource
	unclean error // why left is not known, or not nothing
}

// Run measures every pair of cfg and leaves a row for each in
// cfg.Dir/results.csv, whatever happens. When it returns, every machine is torn
// down, or the Summary says what is left. When ctx ends, no test goes on and
// the teardown takes place all the same.
//
// The error is what stopped the run as a whole: bad configuration, refused
// credentials, files that can't be written, the end of ctx or of the run's
// time. A machine or pair that failed is none; see the Summary.
func Run(ctx context.Context, cfg Config) (Summary, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(time.Now()); err != nil {
		return Summary{}, fmt.Errorf("check run: %w", err)
	}
	r, err := open(cfg)
	if err != nil {
		return Summary{}, err
	}
	return r.finish(ctx)
}

// finish does all that is left to do.
func (r *run) finish(ctx context.Context) (Summary, error) {
	err := r.do(ctx)
	used := r.ledger.usage(time.Now())
	makespan, bound := r.measuredFor()
	r.manifest.Used, r.manifest.Reached = &used, &Reached{makespan.Seconds(), bound.Seconds()}
	return r.summary(), errors.Join(err, r.manifest.write(r.cfg.Dir), r.files.close(), r.journal.close())
}

// open makes the run's files. What a resume needs is among them before the
// first create.
func open(cfg Config) (*run, error) {
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make results folder: %w", err)
	}
	if err := syncDir(filepath.Dir(cfg.Dir)); err != nil { // a crash keeps the folder's name too
		return nil, fmt.Errorf("make results folder: %w", err)
	}
	j, err := createJournal(cfg.Dir)
	if err != nil {
		return nil, err
	}
	manifest := cfg.manifest(time.Now())
	err = keepSecrets(cfg)
	if err == nil {
		err = manifest.write(cfg.Dir)
	}
	var f files
	if err == nil {
		f, err = createFiles(cfg.Dir)
	}
	if err != nil {
		return nil, errors.Join(err, forgetSecrets(cfg.Dir), j.close())
	}
	r := newRun(cfg, j, f, pairRows{}, recall(nil))
	r.manifest = manifest
	return r, nil
}

func newRun(cfg Config, j *journal, f files, rows pairRows, past history) *run {
	r := &run{cfg: cfg, journal: j, files: f, rows: rows, history: past, took: map[Phase]time.Duration{}, ledger: newLedger(cfg.Rates, cfg.Pairs)}
	r.budget = newBudget(cfg, r.ledger)
	j.ledger = r.ledger
	r.divide()
	r.reporter = &reporter{observer: cfg.Observer, progress: Progress{Pairs: len(cfg.Pairs), Rows: r.expected(), Regions: r.machines(), Batches: len(r.batches)}}
	r.fleet = newFleet(cfg.of(nil), j, r.reporter, nil, past)
	return r
}

// expected is how many rows there are to be as far as is known: those that are
// there, and a round of every batch.
func (r *run) expected() int {
	n := len(r.leftOut)
	for _, t := range r.rows {
		n += t.rows
	}
	for _, batch := range r.batches {
		n += len(r.rows.behind(batch))
	}
	return n
}

// do launches, measures and tears down.
func (r *run) do(ctx context.Context) (err error) {
	r.enter(PhaseLaunch)
	defer r.enter(PhaseDone)
	begin := Record{What: RecordRun, RunID: r.cfg.RunID, Expires: r.cfg.Expires, Regions: r.cfg.regionIDs()}
	if len(r.history.tried) > 0 {
		begin.What = RecordResume
	}
	if err := r.journal.write(begin); err != nil {
		return err
	}
	// Armed before the first create, so that nothing can skip it.
	defer func() { err = errors.Join(err, r.tearDown(context.WithoutCancel(ctx))) }()
	r.manifest.know(r.history.machines, r.history.hellos, r.history.settings)
	r.stopped = r.measure(ctx)
	return errors.Join(r.stopped, r.manifest.write(r.cfg.Dir))
}

// enter begins a phase.
func (r *run) enter(p Phase) {
	now := time.Now()
	if r.phase != "" {
		r.took[r.phase] += now.Sub(r.since)
	}
	r.phase, r.since = p, now
	r.reporter.report(Event{Kind: PhaseChanged, Phase: p})
}
