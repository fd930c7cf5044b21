package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/formats"
	"github.com/antipode-bench/antipode/results"
)

// inputFlags say what is read, and with which coordinates.
type inputFlags struct {
	runs      string
	locations string
}

func (f *inputFlags) register(flags *pflag.FlagSet) {
	f.runs = defaultOut
	flags.StringVar(&f.locations, "locations", "", "take the regions' coordinates from this `FILE`: CSV with cloud, region, latitude and longitude, or YAML")
	flags.StringVar(&f.runs, "runs", f.runs, "`FOLDER` that has the folders of runs given by their ids")
}

// inputsHelp is what a FILE can be.
const inputsHelp = `A FILE is a results.csv of any version, results of intercloud-throughput, a throughput or
latency grid of skyplane, the output of iperf3 -J or of ping, any of them also compressed by
gzip, or a run: its id or its folder, or a folder of runs. Which it is shows in the file.`

// collector has the coordinates that the flags name.
func (f *inputFlags) collector() (*analysis.Collector, error) {
	if f.locations == "" {
		return analysis.NewCollector(analysis.Places{Name: "built-in", Regions: antipode.Regions()}), nil
	}
	regions, err := formats.ReadLocations(f.locations)
	if err != nil {
		return nil, usageError("--locations: %w", err)
	}
	return analysis.NewCollector(analysis.Places{Name: f.locations, Regions: regions, Override: true}), nil
}

// read tells the sink of the file, or the run, that an argument names.
func (f *inputFlags) read(arg string, sink formats.Sink) error {
	path, err := f.find(arg)
	if err != nil {
		return err
	}
	if err := formats.Read(path, sink); err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

func (f *inputFlags) find(arg string) (string, error) {
	if _, err := os.Stat(arg); err == nil {
		return arg, nil
	}
	run := filepath.Join(f.runs, arg)
	if info, err := os.Stat(run); err == nil && info.IsDir() && filepath.IsLocal(arg) {
		return run, nil
	}
	return "", usageError("%q is neither a file, nor a folder, nor a run in %s (--runs)", arg, f.runs)
}

// mostTold is how many bad rows are listed on a terminal.
const mostTold = 10

// tellBad lists what could not be read as a row.
func tellBad(w io.Writer, bad []results.BadRow, all int) {
	for i, b := range bad {
		if i == mostTold {
			fmt.Fprintf(w, "and %s more\n", plural(all-mostTold, "line"))
			break
		}
		fmt.Fprintf(w, "%s:%d: set apart: %s\n", b.File, b.Line, b.Reason)
	}
}

var errNoRows = errors.New("no row could be read from these files")
