package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/results"
)

// intoFlags let a sweep go on with an earlier one's results.
type intoFlags struct {
	file   string
	maxAge time.Duration
}

func (f *intoFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "into", "", "leave out the pairs that are ok in this results `FILE`, and add this sweep's rows to it; it is made if it is not there")
	flags.DurationVar(&f.maxAge, "max-age", 0, "with --into: measure again what is older than `TIME`, for example 720h (0: nothing)")
}

func (f *intoFlags) check() error {
	switch {
	case f.maxAge < 0:
		return usageError("--max-age %v: not a time above zero, such as 720h (0: no limit)", f.maxAge)
	case f.maxAge > 0 && f.file == "":
		return usageError("--max-age %v: is of the rows of a file; say which with --into", f.maxAge)
	}
	return nil
}

// had is what the file has: pairs that need not be measured, by "from>to" of their
// regions' ids.
// Rows of the lab and of clouds don't go together.
func (f *intoFlags) had(now time.Time, onLab bool) (map[string]bool, error) {
	rows, err := f.rows()
	if err != nil {
		return nil, err
	}
	had := map[string]bool{}
	for _, r := range rows {
		if r.HasFlag(results.FlagLab) != onLab {
			return nil, usageError("--into %s: has rows of %s, and this sweep is not there: give another file", f.file, origin(!onLab))
		}
		at, err := time.Parse(time.RFC3339, r.Timestamp)
		if r.Status == results.StatusOK && err == nil && (f.maxAge == 0 || now.Sub(at) <= f.maxAge) {
			had[r.FromCloud+":"+r.FromRegion+">"+r.ToCloud+":"+r.ToRegion] = true
		}
	}
	return had, nil
}

func origin(onLab bool) string {
	if onLab {
		return "the lab"
	}
	return "clouds"
}

// rows reads the file, which must be one that can be added to. None yet is none.
func (f *intoFlags) rows() ([]results.Row, error) {
	w, err := results.OpenAppend(f.file) // cuts off a torn line
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = w.Close()
	}
	var file results.File
	if err == nil {
		file, err = results.ReadFile(f.file)
	}
	if err != nil {
		return nil, usageError("--into: %w", err)
	}
	return file.Rows, nil
}

// rowOf tells rows apart.
type rowOf struct {
	run, pair  string
	repetition int64
}

func keyOf(r results.Row) rowOf {
	k := rowOf{run: r.RunID, pair: r.FromCloud + ":" + r.FromRegion + ">" + r.ToCloud + ":" + r.ToRegion}
	if r.Repetition != nil {
		k.repetition = *r.Repetition
	}
	return k
}

// add puts the rows of a run's folder into the file: those that were measured, or
// failed, and that it has not yet. So it may be called again.
func (f *intoFlags) add(dir string) (err error) {
	if f.file == "" {
		return nil
	}
	run, err := results.ReadFile(filepath.Join(dir, "results.csv"))
	if err != nil {
		return err
	}
	there, err := f.rows()
	if err != nil {
		return err
	}
	has := map[rowOf]bool{}
	for _, r := range there {
		has[keyOf(r)] = true
	}
	w, err := results.OpenAppend(f.file)
	if errors.Is(err, fs.ErrNotExist) {
		w, err = results.Create(f.file)
	}
	if err != nil {
		return fmt.Errorf("--into: %w", err)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, r := range run.Rows {
		if r.Status == results.StatusSkipped || has[keyOf(r)] {
			continue
		}
		if err := w.Write(r); err != nil {
			return fmt.Errorf("--into %s: %w", f.file, err)
		}
	}
	return nil
}

// unlessThere leaves out of the wishes what the file has.
func (f *sweepFlags) unlessThere() error {
	if f.into.file == "" {
		return nil
	}
	had, err := f.into.had(time.Now(), f.labName != "")
	f.wishes.Had = func(p plan.Pair) bool { return had[p.String()] }
	return err
}

// tellNoneMissing is all there is to say of a plan that measures nothing.
func (f *sweepFlags) tellNoneMissing(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s has every pair of these: nothing to measure\n", f.into.file)
	return err
}
