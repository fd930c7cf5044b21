//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/antipode-bench/antipode/lab/router"
	"github.com/antipode-bench/antipode/probe/wire"
)

// record is all that was measured of a path: its file in the results.
type record struct {
	Path     Path                 `json:"path"`
	RTT      *wire.RTTResult      `json:"rtt,omitempty"`
	UDP      *datagrams           `json:"udp,omitempty"`
	Long     *transfer            `json:"long,omitempty"`
	Adaptive *transfer            `json:"adaptive,omitempty"`
	Ten      *transfer            `json:"ten,omitempty"`   // ten seconds with every sample, to play rules on
	Eased    map[string]*transfer `json:"eased,omitempty"` // by what was eased; without samples
	Failed   map[string]string    `json:"failed,omitempty"`
}

// datagrams is a UDP test with the router's count of its flow.
type datagrams struct {
	Result *wire.UDPResult   `json:"result"`
	Flow   *router.FlowCount `json:"flow"`
}

// transfer is a TCP test with the router's record of it.
type transfer struct {
	Result    *wire.ThroughputResult `json:"result"`
	Carried   curve                  `json:"carried"`
	LateRatio float64                `json:"late_ratio"` // of the segments: this computer was too busy to deliver them in time
	StallMs   float64                `json:"stall_ms"`   // the longest time that it stood still
}

// maxLateRatio is the sweep's: where more was late, goodput was seen to be off.
const maxLateRatio = 0.05

// exact is false for what has to be measured again: it is not there, or the
// computer was too busy, or stood still meanwhile.
func (t *transfer) exact() bool {
	return t != nil && t.LateRatio <= maxLateRatio && t.StallMs <= ms(maxStall)
}

// exactOnly is the record without the tests that were not exact, and how many
// these are.
func (r *record) exactOnly() (exact *record, disturbed int) {
	short := *r
	for _, t := range []**transfer{&short.Long, &short.Adaptive, &short.Ten} {
		if *t != nil && !(*t).exact() {
			*t = nil
			disturbed++
		}
	}
	short.Eased = maps.Clone(r.Eased)
	maps.DeleteFunc(short.Eased, func(_ string, t *transfer) bool { return !t.exact() })
	return &short, disturbed + len(r.Eased) - len(short.Eased)
}

// readRecord returns what is known of a path so far: nothing, if the file is of
// another path of that name.
func readRecord(file string, p Path) (*record, error) {
	r := &record{Path: p}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	var old record
	if err := json.Unmarshal(data, &old); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if old.Path != p {
		return nil, fmt.Errorf("%s is of another path of that name: remove it, or take another --results", file)
	}
	return &old, nil
}

// note keeps what came of a step: its failure, or that it did not fail.
func (r *record) note(step string, err error) {
	if err == nil {
		delete(r.Failed, step)
		return
	}
	if r.Failed == nil {
		r.Failed = map[string]string{}
	}
	r.Failed[step] = err.Error()
}

// write replaces the file at once, so that an interruption costs one test.
func (r *record) write(file string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file+".tmp", data, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".tmp", file)
}

// readRecords returns the records of the paths that have any.
func readRecords(dir string, paths []Path) (records []*record, err error) {
	for _, p := range paths {
		r, err := readRecord(filepath.Join(dir, p.Name+".json"), p)
		if err != nil {
			return nil, err
		}
		if r.RTT != nil || r.UDP != nil || r.Long != nil {
			records = append(records, r)
		}
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("nothing was measured in %s", dir)
	}
	return records, nil
}
