package orchestrator

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/antipode-bench/antipode/providers"
)

// safeFile is a journal's file that tells what a crash of the computer would
// leave of it: what was written before the last Sync.
type safeFile struct {
	syncedFile
	deaf bool // Sync does nothing

	mu      sync.Mutex
	written []byte
	safe    []byte
}

func (f *safeFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.written = append(f.written, p...)
	return f.syncedFile.Write(p)
}

func (f *safeFile) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.deaf {
		f.safe = slices.Clone(f.written)
	}
	return nil
}

// has reports whether a crash would leave a record of a kind.
func (f *safeFile) has(which func(Record) bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for line := range bytes.Lines(f.safe) {
		var r Record
		if json.Unmarshal(line, &r) == nil && which(r) {
			return true
		}
	}
	return false
}

// wary is a cloud that notes the calls of which a crash would leave no intent.
type wary struct {
	*fakeCloud
	file *safeFile

	mu      *sync.Mutex
	unknown *[]string
}

func (c *wary) note(call string, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !known {
		*c.unknown = append(*c.unknown, call)
	}
}

func (c *wary) Launch(ctx context.Context, spec providers.Spec) (providers.Machine, error) {
	id := c.name + ":" + spec.Region
	c.note("launch "+id, c.file.has(func(r Record) bool { return r.What == RecordLaunch && r.Region == id }))
	return c.fakeCloud.Launch(ctx, spec)
}

func (c *wary) Destroy(ctx context.Context, runID string, regions []string) error {
	c.note("destroy "+c.name, c.file.has(func(r Record) bool { return r.What == RecordDestroy && r.Cloud == c.name }))
	return c.fakeCloud.Destroy(ctx, runID, regions)
}

// TestIntentIsSynced: a killed process keeps what it has written, a computer
// that loses its power only what was synced. The intent is, before the call goes out.
func TestIntentIsSynced(t *testing.T) {
	for name, test := range map[string]struct {
		deaf    bool
		unknown int
	}{
		"as it is":       {false, 0},
		"without a sync": {true, 6 + 2}, // or the test would prove nothing
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				cfg := p.config(6).withDefaults()
				file := &safeFile{deaf: test.deaf}
				var mu sync.Mutex
				var unknown []string
				for cloud := range cfg.Providers {
					cfg.Providers[cloud] = &wary{&fakeCloud{p, cloud}, file, &mu, &unknown}
				}
				r, err := open(cfg)
				if err != nil {
					t.Fatal(err)
				}
				file.syncedFile, r.journal.file = r.journal.file, file
				if s, err := r.finish(t.Context()); err != nil || s.OK != 30 {
					t.Fatalf("Run = %+v, %v", s, err)
				}
				if len(unknown) != test.unknown {
					t.Errorf("a crash would leave no intent of %v, want of %d calls", unknown, test.unknown)
				}
			})
		})
	}
}
