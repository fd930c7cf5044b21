package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/results"
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
}

func (l *lines) close() {}

func (l *lines) event(e orchestrator.Event) {
	if text := describe(e); text != "" {
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
		case orchestrator.StateFailed, orchestrator.StateSkipped:
			return fmt.Sprintf("machine %s: %v", e.State, e.Err)
		}
	case orchestrator.PairEnded:
		return fmt.Sprintf("pair %d/%d  %s", e.Progress.Done(), e.Progress.Pairs, rowWords(e.Row))
	}
	return ""
}

func phaseWords(p orchestrator.Phase, n orchestrator.Progress) string {
	switch p {
	case orchestrator.PhaseLaunch:
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
	return fmt.Sprintf("%s  %s  %s", pair, results.Milliseconds(*r.RTTP50Ms), results.Rate(*r.GoodputBps))
}

// bars is a live display: one bar for the machines, one for the pairs, and what
// happens just now.
type bars struct {
	*mpb.Progress
	machines, pairs *mpb.Bar
	closed          atomic.Bool
	last            atomic.Pointer[orchestrator.Event]
	news            atomic.Pointer[string] // what happened last
	rtts            atomic.Int64           // round-trip tests that have ended
}

func newBars(w io.Writer) *bars {
	b := &bars{Progress: mpb.New(mpb.WithOutput(w), mpb.WithWidth(32), mpb.WithRefreshRate(120*time.Millisecond))}
	b.last.Store(&orchestrator.Event{})
	b.news.Store(new("getting ready"))
	style := mpb.BarStyle().Lbound("").Rbound("").Filler("━").Tip("━").Padding("─")
	bar := func(name string, text func(orchestrator.Progress) string) *mpb.Bar {
		return b.New(0, style, mpb.PrependDecorators(decor.Name(name, decor.WC{W: 9, C: decor.DindentRight})),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + text(b.last.Load().Progress) })))
	}
	b.machines = bar("machines", func(p orchestrator.Progress) string {
		if p.Regions == 0 {
			return "" // not known yet
		}
		return fmt.Sprintf("%d/%d ready%s", p.Ready, p.Regions, unless(p.Lost, "lost"))
	})
	b.pairs = bar("pairs", b.pairsText)
	b.New(0, mpb.NopStyle(), mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return *b.news.Load() })))
	return b
}

// pairsText fits beside the bar into 80 columns. Round trips come first, and no
// pair ends before it has its throughput: without their count nothing would
// seem to happen for a while.
func (b *bars) pairsText(p orchestrator.Progress) string {
	if p.Pairs == 0 {
		return "" // not known yet
	}
	text := fmt.Sprintf("%d/%d%s%s", p.Done(), p.Pairs, unless(p.Failed, "failed"), unless(p.Skipped, "skipped"))
	if n := b.rtts.Load(); p.Done() == 0 && n > 0 {
		return text + ", " + plural(int(n), "RTT test") + " done"
	}
	return text + ", " + humanBytes(float64(p.Bytes)) + " moved"
}

// unless names a count that is not zero.
func unless(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d %s", n, what)
}

func (b *bars) event(e orchestrator.Event) {
	b.last.Store(&e)
	if e.Kind == orchestrator.TestEnded && e.Task.Kind == plan.RTT {
		b.rtts.Add(1)
	}
	p := e.Progress
	b.machines.SetTotal(int64(p.Regions), false)
	b.machines.SetCurrent(int64(p.Ready + p.Lost))
	b.pairs.SetTotal(int64(p.Pairs), false)
	b.pairs.SetCurrent(int64(p.Done()))
	text := describe(e)
	switch {
	case text == "":
	case e.Kind == orchestrator.RegionChanged && e.State != orchestrator.StateReady,
		e.Kind == orchestrator.PairEnded && e.Row.Status == results.StatusFailed:
		fmt.Fprintln(b, text) // stays above the bars
	default:
		b.news.Store(&text)
	}
}

func (b *bars) close() {
	if b.closed.CompareAndSwap(false, true) {
		b.Shutdown()
	}
}
