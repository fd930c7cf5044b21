package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/results"
)

var (
	// ErrNothingMade is a run that ended before it could make anything, or
	// write down what it was going to.
	ErrNothingMade = errors.New("the run ended before it made anything")

	errHeld   = errors.New("another process goes on with this run")
	errNoKeys = errors.New("the run's keys are gone, so its machines can't be reached")
)

// Past is a run that an earlier process began. Only one process at a time has it.
type Past struct {
	Manifest Manifest
	Dir      string
	Secrets  []byte // for the Remote; nil if none are kept

	cfg     Config // of all pairs
	journal *journal
	records []Record
	history history
	rows    []results.Row
}

// Reopen takes the run in dir over. An error that another process still has it
// is final: nothing was touched. Close it, unless it was given to Resume.
func Reopen(dir string) (*Past, error) {
	j, records, err := openJournal(dir)
	if err != nil {
		return nil, fmt.Errorf("open run %s: %w", dir, err)
	}
	p := &Past{Dir: dir, journal: j, records: records, history: recall(records)}
	if err := p.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("open run %s: %w", dir, err), j.close())
	}
	return p, nil
}

func (p *Past) read() (err error) {
	p.Manifest, err = readManifest(p.Dir)
	if errors.Is(err, fs.ErrNotExist) && len(p.history.tried) == 0 {
		return errors.Join(ErrNothingMade, forgetSecrets(p.Dir))
	}
	if err != nil {
		return err
	}
	if p.cfg, err = p.Manifest.config(); err != nil {
		return fmt.Errorf("%s: %w", manifestFile, err)
	}
	p.cfg.Dir = p.Dir
	if p.Secrets, err = readSecrets(p.Dir); err != nil {
		return err
	}
	p.rows, err = readRows(p.Dir)
	return err
}

// readRows takes a file that was not made yet, or only half its header, for empty.
func readRows(dir string) ([]results.Row, error) {
	path := filepath.Join(dir, resultsFile)
	w, err := results.OpenAppend(path) // mends what was torn
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	file, err := results.ReadFile(path)
	return file.Rows, err
}

// Close lets go of a run that is not resumed.
func (p *Past) Close() error { return p.journal.close() }

// Forget deletes the keys of a run whose machines are known to be gone.
func (p *Past) Forget() error { return forgetSecrets(p.Dir) }

// Remaining are the pairs that have not as many rows as they are to have.
func (p *Past) Remaining() []plan.Pair { return tallyOf(p.rows).lacking(p.cfg.Pairs, p.cfg.Repeat) }

// Finished reports whether every pair has a row and all was torn down.
func (p *Past) Finished() bool { return len(p.Remaining()) == 0 && p.history.clean() }

// Expired reports whether the run's time is over: nothing is measured any more.
func (p *Past) Expired() bool { return !time.Now().Before(p.cfg.Expires) }

// Untouched reports whether nothing was ever launched.
func (p *Past) Untouched() bool { return len(p.history.tried) == 0 }

// Clouds are those a resume needs a provider of, sorted.
func (p *Past) Clouds() []string {
	clouds := p.history.clouds()
	for _, pair := range p.Remaining() {
		clouds = append(clouds, pair.From.Cloud, pair.To.Cloud)
	}
	slices.Sort(clouds)
	return slices.Compact(clouds)
}

// Config is the run's, without what is of a process: Providers, Remote,
// ControllerAddr, Baseline, Remarks, Rates, Fastest, Limits, Observer and Log.
func (p *Past) Config() Config { return p.cfg }

// Resume goes on with a run as Run would have: it adopts the machines that are
// there, launches those that are missing, measures the pairs that have no row
// and tears everything down, also what only the earlier processes made. Pairs
// that have a row keep it. Of a run that has expired, or whose keys are gone
// (no Remote), it measures nothing more. It closes p.
func Resume(ctx context.Context, p *Past, cfg Config) (Summary, error) {
	cfg = cfg.withDefaults()
	if err := p.check(cfg); err != nil {
		return Summary{}, errors.Join(fmt.Errorf("check run: %w", err), p.Close())
	}
	r, err := p.reopen(cfg)
	if err != nil {
		return Summary{}, errors.Join(err, p.Close())
	}
	return r.finish(ctx)
}

func (p *Past) check(cfg Config) error {
	for _, cloud := range p.Clouds() {
		if cfg.Providers[cloud] == nil {
			return fmt.Errorf("no provider for cloud %q", cloud)
		}
	}
	if cfg.Remote == nil {
		return nil
	}
	return cfg.checkTest()
}

// reopen makes the run of what is left to do.
func (p *Past) reopen(cfg Config) (*run, error) {
	if cfg.Remote != nil { // a run cut short before it kept any keys
		if err := keepSecrets(cfg); err != nil {
			return nil, err
		}
	}
	f, err := reopenFiles(p.Dir)
	if err != nil {
		return nil, err
	}
	all := cfg.Pairs
	cfg.Pairs = p.Remaining()
	r := newRun(cfg, p.journal, f, tallyOf(p.rows), p.history)
	r.ledger = p.ledger(cfg.Rates, all)
	r.budget = newBudget(cfg, r.ledger)
	p.journal.ledger = r.ledger
	r.manifest = p.Manifest
	r.reporter.progress.Pairs = len(all)
	for _, row := range p.rows {
		r.reporter.progress.countRow(&row)
	}
	if cfg.Remote == nil {
		r.barred = must(errNoKeys)
	}
	return r, nil
}

// ledger has what the earlier processes used.
func (p *Past) ledger(rates plan.Rates, pairs []plan.Pair) *ledger {
	l := newLedger(rates, pairs)
	for _, r := range p.records {
		l.enter(r)
	}
	l.atLeast(p.rows)
	return l
}

// openJournal opens a journal to go on after its last whole record.
func openJournal(dir string) (*journal, []Record, error) {
	file, err := os.OpenFile(filepath.Join(dir, journalFile), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, err
	}
	records, err := mend(file)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return &journal{file: file}, records, nil
}

// mend takes the file over and cuts off what was torn.
func mend(file *os.File) ([]Record, error) {
	if err := lock(file); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file.Name())
	if err != nil {
		return nil, err
	}
	records, whole, err := parseJournal(data)
	if err == nil && whole < len(data) {
		err = errors.Join(file.Truncate(int64(whole)), file.Sync())
	}
	return records, err
}
