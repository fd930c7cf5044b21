package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/antipode-bench/antipode/lab"
	labworld "github.com/antipode-bench/antipode/lab/world"
	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/remote"
	"github.com/antipode-bench/antipode/results"
)

// Files that only a lab run leaves.
const (
	worldFile     = "world.yaml"
	truthFile     = "truth.csv"
	deliveredFile = "delivered.csv"
)

// conditions are what a perfect measurement depends on beside the world.
type conditions struct {
	machineTypes map[string]string // by cloud, or by region
	test         labworld.Test
}

func conditionsOf(machineTypes map[string]string, t orchestrator.Test, tuned bool) conditions {
	o := t.Options
	test := labworld.Test{Streams: t.Streams, SendBufferBytes: 2 * float64(o.SendBufferBytes), // the kernel doubles it
		ReceiveWindowBytes: float64(o.ReceiveWindowBytes), MSSBytes: o.MSSBytes, PacingBps: o.PacingBps, RateBps: o.RateBps}
	if tuned && o.SendBufferBytes == 0 {
		test.SendBufferBytes = remote.TunedBytes
	}
	return conditions{machineTypes, test}
}

// keep writes what only a lab knows into the run's folder.
func (v *venue) keep(dir string, how conditions) error {
	if v.lab == nil {
		return nil
	}
	if err := v.gone(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), labTimeout)
	defer cancel()
	for _, f := range []struct {
		name string
		ask  func(context.Context, *lab.Lab) ([]byte, error)
	}{
		{worldFile, worldOf}, {truthFile, truthOf(conditions{usedTypes(dir, how.machineTypes), how.test})}, {deliveredFile, v.delivered},
	} {
		if f.name == deliveredFile && v.resumed {
			continue // nobody knows what had been carried when the run began
		}
		data, err := f.ask(ctx, v.lab)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.name), data, 0o644)
		}
		if err != nil {
			return fmt.Errorf("keep the lab's %s: %w", f.name, err)
		}
	}
	return nil
}

func worldOf(ctx context.Context, l *lab.Lab) ([]byte, error) {
	w, err := l.World(ctx)
	if err != nil {
		return nil, err
	}
	return w.Marshal()
}

// usedTypes are machine types by cloud, and by region where a row says which it
// came to be: the first may have had no room.
func usedTypes(dir string, wished map[string]string) map[string]string {
	used := map[string]string{}
	maps.Copy(used, wished)
	file, err := results.ReadFile(filepath.Join(dir, "results.csv"))
	if err != nil {
		return used // the command says so later: the charts need the file too
	}
	for _, r := range file.Rows {
		if r.Status == results.StatusOK {
			used[r.FromCloud+":"+r.FromRegion], used[r.ToCloud+":"+r.ToRegion] = r.FromMachine, r.ToMachine
		}
	}
	return used
}

// truthOf asks for what a perfect measurement would say.
func truthOf(how conditions) func(context.Context, *lab.Lab) ([]byte, error) {
	return func(ctx context.Context, l *lab.Lab) ([]byte, error) {
		rows, err := l.Truth(ctx, how.machineTypes, how.test)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = labworld.WriteCSV(&b, rows)
		return b.Bytes(), err
	}
}
