package orchestrator

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/antipode-bench/antipode/results"
)

const (
	resultsFile = "results.csv"
	samplesFile = "samples.csv"
)

// files are what a run writes its measurements to.
type files struct {
	rows    *results.Writer
	samples *results.Samples
}

func createFiles(dir string) (f files, err error) {
	if f.rows, err = results.Create(filepath.Join(dir, resultsFile)); err != nil {
		return f, err
	}
	if f.samples, err = results.CreateSamples(filepath.Join(dir, samplesFile)); err != nil {
		return f, errors.Join(err, f.rows.Close())
	}
	return f, nil
}

// reopenFiles goes on with the files of a run that was killed, perhaps before it
// had made them.
func reopenFiles(dir string) (f files, err error) {
	f.rows, err = orCreate(filepath.Join(dir, resultsFile), results.OpenAppend, results.Create)
	if err != nil {
		return f, err
	}
	f.samples, err = orCreate(filepath.Join(dir, samplesFile), results.AppendSamples, results.CreateSamples)
	if err != nil {
		return f, errors.Join(err, f.rows.Close())
	}
	return f, nil
}

func orCreate[T any](path string, open, create func(string) (T, error)) (T, error) {
	file, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return create(path)
	}
	return file, err
}

func (f files) close() error { return errors.Join(f.rows.Close(), f.samples.Close()) }
