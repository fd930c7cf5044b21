//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// tries are how often a test is made that failed, or that was disturbed because
// the computer was too busy.
const tries = 3

// measureAll measures what the results do not have yet: first what needs quiet,
// then the TCP tests. What is still missing is tried again with less beside it,
// and stays missing then, for another run.
func measureAll(ctx context.Context, o options, paths []Path) error {
	t, err := loadTools(o)
	if err != nil {
		return err
	}
	records, err := keepAll(o.results, paths)
	if err != nil {
		return err
	}
	for range tries {
		if err := t.quietTests(ctx, o, records); err != nil {
			return err
		}
		if err := t.transfers(ctx, o, records); err != nil {
			return err
		}
		o.budget /= 2
	}
	return nil
}

// kept is a record with its file. Safe for concurrent use, but for reading what
// is being changed.
type kept struct {
	mu   sync.Mutex
	file string
	*record
}

func keepAll(dir string, paths []Path) (all []*kept, err error) {
	for _, p := range paths {
		k := &kept{file: filepath.Join(dir, p.Name+".json")}
		if k.record, err = readRecord(k.file, p); err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}

// keep notes down how a test went; change puts what it measured into the record.
// An interruption is an error and changes nothing, a failure is for the next try.
func (k *kept) keep(ctx context.Context, name string, err error, change func(*record)) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.note(name, err); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s: %v\n", k.Path.Name, name, err)
	} else {
		change(k.record)
	}
	return k.write(k.file)
}
