package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/antipode-bench/antipode/remote"
	"github.com/antipode-bench/antipode/results"
)

// tuneLimit leaves room for an earlier connection to give way.
const tuneLimit = 20 * time.Second

var errTuneLimit = fmt.Errorf("no success within %v", tuneLimit)

// tune raises the limits of the machine's kernel, if that is asked for. What can't
// be is told and left: the rows say what was.
func (m *machine) tune(ctx context.Context) error {
	cfg := &m.fleet.cfg
	m.settings = nil
	if !cfg.Tune {
		return nil
	}
	tctx, cancel := context.WithTimeoutCause(ctx, tuneLimit, errTuneLimit)
	defer cancel()
	settings, err := m.conn.Tune(tctx, remote.Tuning{Owner: "run " + cfg.RunID + " in " + m.id(), CongestionControl: cfg.Test.CongestionControl})
	if err != nil && (over(m.conn.Done()) || ctx.Err() != nil) {
		return err
	}
	m.settings = settings
	switch failed := failures(settings); {
	case err != nil:
		cfg.Log.Warn("not tuned", "region", m.id(), "error", err)
	case failed != "":
		cfg.Log.Warn("not all is tuned", "region", m.id(), "left", failed)
	}
	return nil
}

func failures(settings []remote.Setting) string {
	var failed []string
	for _, s := range settings {
		if s.Failed != "" {
			failed = append(failed, s.Name+" "+s.Failed)
		}
	}
	return strings.Join(failed, ", ")
}

// tuned is what a row says of a machine's settings: those that are as wished.
func tuned(settings []remote.Setting) string {
	var done []string
	for _, s := range settings {
		if s.Failed == "" {
			done = append(done, s.Name+"="+strings.ReplaceAll(s.After, " ", ","))
		}
	}
	return strings.Join(done, ";")
}

// withTuned is a row with what the kernels of its ends were tuned to.
func withTuned(r results.Row, from, to []remote.Setting) results.Row {
	r.FromTuned, r.ToTuned = tuned(from), tuned(to)
	return r
}
