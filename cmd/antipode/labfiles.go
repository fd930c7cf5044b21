package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gocarina/gocsv"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab"
	labworld "github.com/antipode-bench/antipode/lab/world"
)

// Files that only a lab run leaves.
const (
	worldFile     = "world.yaml"
	truthFile     = "truth.csv"
	deliveredFile = "delivered.csv"
)

// traffic is what a lab's router has counted.
type traffic struct {
	Pairs []struct {
		From, To  string
		Delivered struct {
			Packets      int64
			Bytes        int64
			PayloadBytes int64 `json:"payload_bytes"`
		}
		Dropped struct{ Rule, Queue, Loss, Link int64 }
	}
	Overloads []struct{ From, To time.Time }
}

// delivered is a line of delivered.csv: what the router carried from one
// region to another during the run.
type delivered struct {
	FromCloud      string `csv:"from_cloud"`
	FromRegion     string `csv:"from_region"`
	ToCloud        string `csv:"to_cloud"`
	ToRegion       string `csv:"to_region"`
	Packets        int64  `csv:"packets"`       // as segments on the wire
	Bytes          int64  `csv:"bytes"`         // from the IP header on
	PayloadBytes   int64  `csv:"payload_bytes"` // of TCP, repeats included
	DroppedByRule  int64  `csv:"dropped_by_rule"`
	DroppedByQueue int64  `csv:"dropped_by_queue"`
	DroppedByLoss  int64  `csv:"dropped_by_loss"`
	DroppedAtLink  int64  `csv:"dropped_at_link"`
}

func (v *venue) traffic(ctx context.Context) (t traffic, err error) {
	data, err := v.lab.Counts(ctx)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(data, &t)
}

// keep writes what only a lab knows into the run's folder.
func (v *venue) keep(dir string, machineTypes map[string]string) error {
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
		{worldFile, worldOf}, {truthFile, truthOf(machineTypes)}, {deliveredFile, v.delivered},
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

// truthOf asks for what a perfect measurement would say.
func truthOf(machineTypes map[string]string) func(context.Context, *lab.Lab) ([]byte, error) {
	return func(ctx context.Context, l *lab.Lab) ([]byte, error) {
		rows, err := l.Truth(ctx, machineTypes)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = labworld.WriteCSV(&b, rows)
		return b.Bytes(), err
	}
}

// delivered is what the router counted since the sweep began.
func (v *venue) delivered(ctx context.Context, _ *lab.Lab) ([]byte, error) {
	now, err := v.traffic(ctx)
	if err != nil {
		return nil, err
	}
	data, err := gocsv.MarshalBytes(now.since(v.before))
	return data, err
}

func (t traffic) since(before traffic) []delivered {
	lines := map[[2]string]delivered{}
	add := func(t traffic, sign int64) {
		for _, p := range t.Pairs {
			if p.From == "" || p.To == "" {
				continue // the controller's own
			}
			d := lines[[2]string{p.From, p.To}]
			d.FromCloud, d.FromRegion, _ = antipode.SplitID(p.From)
			d.ToCloud, d.ToRegion, _ = antipode.SplitID(p.To)
			d.Packets += sign * p.Delivered.Packets
			d.Bytes += sign * p.Delivered.Bytes
			d.PayloadBytes += sign * p.Delivered.PayloadBytes
			d.DroppedByRule += sign * p.Dropped.Rule
			d.DroppedByQueue += sign * p.Dropped.Queue
			d.DroppedByLoss += sign * p.Dropped.Loss
			d.DroppedAtLink += sign * p.Dropped.Link
			lines[[2]string{p.From, p.To}] = d
		}
	}
	add(t, 1)
	add(before, -1)
	var list []delivered
	for _, d := range lines {
		if d.Packets > 0 || d.DroppedByRule > 0 {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b delivered) int {
		return cmp.Or(cmp.Compare(a.FromCloud, b.FromCloud), cmp.Compare(a.FromRegion, b.FromRegion),
			cmp.Compare(a.ToCloud, b.ToCloud), cmp.Compare(a.ToRegion, b.ToRegion))
	})
	return list
}

// warnOfOverloads tells when the computer was too busy for the lab to be
// exact: measurements of that time are suspect.
func (v *venue) warnOfOverloads(out io.Writer) {
	if v.lab == nil || v.gone() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), labTimeout)
	defer cancel()
	now, err := v.traffic(ctx)
	if n := len(now.Overloads) - len(v.before.Overloads); err == nil && n > 0 {
		fmt.Fprintf(out, "this computer was too busy for the lab to be exact, %s: measurements of that time are suspect\n", plural(n, "time"))
	}
}
