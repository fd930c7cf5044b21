package formats

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/results"
)

// The files of a run's folder that are read.
const (
	resultsFile  = "results.csv"
	samplesFile  = "samples.csv"
	manifestFile = "run.json"
)

// readRun reads a run's folder, or each run in a folder of runs.
func readRun(dir string, sink Sink) error {
	if !isUnder(dir, resultsFile) {
		return readRuns(dir, sink)
	}
	m, err := readManifest(filepath.Join(dir, manifestFile))
	if err != nil {
		return err
	}
	sink.Locate(m.places())
	facts := &rowsOfPairs{Sink: sink, rows: map[pairKey][]measured{}}
	file := filepath.Join(dir, resultsFile)
	data, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	defer data.Close()
	source, err := ReadFrom(file, data, facts)
	if err != nil {
		return err
	}
	if err := readSamples(filepath.Join(dir, samplesFile), facts); err != nil {
		return err
	}
	source.Name, source.Run = dir, m.facts()
	sink.End(source)
	return nil
}

func readRuns(dir string, sink Sink) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	found := false
	for _, e := range entries {
		if run := filepath.Join(dir, e.Name()); isUnder(run, resultsFile) {
			found = true
			if err := readRun(run, sink); err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("%s: no run's folder, which has %s, nor a folder of such", dir, resultsFile)
	}
	return nil
}

// manifest is the part of run.json that is used.
type manifest struct {
	RunID   string            `json:"run_id"`
	Version string            `json:"version"`
	Started time.Time         `json:"started"`
	Command map[string]string `json:"command"`
	Test    map[string]any    `json:"test"`
	Regions []manifestRegion  `json:"regions"`
}

type manifestRegion struct {
	Cloud     string  `json:"cloud"`
	Region    string  `json:"region"`
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Unplaced  bool    `json:"unplaced"`
	Machine   *struct {
		Zone  string `json:"zone"`
		Type  string `json:"type"`
		Image string `json:"image"`
	} `json:"machine"`
	Probe map[string]any `json:"probe"`
}

// readManifest returns nil where there is none: the rows stand for themselves.
func readManifest(path string) (*manifest, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &m, nil
}

// places are where the run's regions stand. Hosts have none but these.
func (m *manifest) places() (all []antipode.Region) {
	if m == nil {
		return nil
	}
	for _, r := range m.Regions {
		if !r.Unplaced {
			all = append(all, antipode.Region{Cloud: r.Cloud, Name: r.Region, Latitude: r.Latitude, Longitude: r.Longitude})
		}
	}
	return all
}

func (m *manifest) facts() *results.RunFacts {
	if m == nil {
		return nil
	}
	f := &results.RunFacts{RunID: m.RunID, Version: m.Version, Started: m.Started, Command: m.Command, Test: m.Test}
	for _, r := range m.Regions {
		f.Machines = append(f.Machines, r.facts())
	}
	slices.SortFunc(f.Machines, func(a, b results.MachineFacts) int { return cmp.Compare(a.Region, b.Region) })
	return f
}

func (r *manifestRegion) facts() results.MachineFacts {
	f := results.MachineFacts{Region: r.Cloud + ":" + r.Region}
	if r.Machine != nil {
		f.Zone, f.Type, f.Image = r.Machine.Zone, r.Machine.Type, r.Machine.Image
	}
	text := func(key string) string { s, _ := r.Probe[key].(string); return s }
	f.Kernel, f.CongestionControl, f.Probe = text("kernel"), text("congestion_control"), text("build")
	if n, ok := r.Probe["cpus"].(float64); ok {
		f.CPUs = int(n)
	}
	return f
}
