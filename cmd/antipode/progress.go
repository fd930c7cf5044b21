package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/results"
	"github.com/antipode-bench/antipode/units"
)

// progress shows how far a run is. Its writer takes what else is said meanwhile,
// such as warnings, without tearing the display.
type progress interface {
	io.Writer
	event(orchestrator.Event)
	close() // safe to call twice
}

// newProgress redraws bars on a terminal, and writes plain lines elsewhere.
func newProgress(w io.Writer) progress {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return newBars(f)
	}
	return &lines{Writer: w, began: time.Now()}
}

// lines is a log of what happened, one line each.
type lines struct {
	io.Writer
	began time.Time
	last  time.Time // line
	tests int       // that have ended well
}

// quiet is how long nothing is said at most while tests end. Round trips come
// first, and no pair ends before it has its throughput.
const quiet = 5 * time.Second

func (l *lines) close() {}

func (l *lines) event(e orchestrator.Event) {
	text := describe(e)
	if e.Kind == orchestrator.TestEnded && e.Err == nil {
		if l.tests++; text == "" && e.Time.Sub(l.last) >= quiet {
			text = fmt.Sprintf("%s done, %d running", plural(l.tests, "test"), e.Progress.Running)
		}
	}
	if text != "" {
		l.last = e.Time
		fmt.Fprintf(l, "%6.1fs  %s\n", e.Time.Sub(l.began).Seconds(), text)
	}
}

// describe is an event in words; events that are not worth a line are "".
func describe(e orchestrator.Event) string {
	switch e.Kind {
	case orchestrator.PhaseChanged:
		return phaseWords(e.Phase, e.Progress)
	case orchestrator.RegionChanged:
		switch e.State {
		case orchestrator.StateReady:
			return fmt.Sprintf("machine %d/%d ready: %s", e.Progress.Ready, e.Progress.Regions, e.Region)
		case orchestrator.StateAway:
			return fmt.Sprintf("machine away: %v; dialling again", e.Err)
		case orchestrator.StateFailed, orchestrator.StateSkipped:
			return fmt.Sprintf("machine %s: %v", e.State, e.Err)
		}
	case orchestrator.TeardownStalls:
		return fmt.Sprintf("teardown goes on in %v: %v", e.Pause, e.Err)
	case orchestrator.PairEnded:
		return fmt.Sprintf("%s %d/%d  %s", rowWord(e.Progress), e.Progress.Done(), max(e.Progress.Rows, e.Progress.Pairs), rowWords(e.Row))
	}
	return ""
}

// rowWord is what a row is of: with repetitions not of a pair alone.
func rowWord(p orchestrator.Progress) string {
	if p.Rounds > 1 {
		return fmt.Sprintf("round %d row", p.Round)
	}
	return "pair"
}

func phaseWords(p orchestrator.Phase, n orchestrator.Progress) string {
	if p == orchestrator.PhaseTeardown && n.Batch < n.Batches {
		return fmt.Sprintf("tearing down batch %d of %d", n.Batch, n.Batches)
	}
	switch p {
	case orchestrator.PhaseLaunch:
		if n.Batches > 1 {
			return fmt.Sprintf("launching batch %d of %d", n.Batch+1, n.Batches)
		}
		return "launching " + plural(n.Regions, "machine")
	case orchestrator.PhaseMeasure:
		return "measuring " + plural(n.Pairs, "pair")
	case orchestrator.PhaseTeardown:
		return "tearing down"
	}
	return ""
}

// rowWords is what a pair measured, or why it did not.
func rowWords(r *results.Row) string {
	pair := fmt.Sprintf("%s:%s > %s:%s", r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion)
	if r.Status != results.StatusOK {
		return fmt.Sprintf("%s  %s: %s", pair, r.Status, r.Error)
	}
	return fmt.Sprintf("%s  %s  %s", pair, units.Milliseconds(*r.RTTP50Ms), units.Rate(*r.GoodputBps))
}
