package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/results"
	"github.com/antipode-bench/antipode/units"
)

// bars is a live display: one bar for the machines, one for the pairs, and what
// happens just now.
type bars struct {
	*mpb.Progress
	out             io.Writer
	machines, pairs *mpb.Bar
	last            atomic.Pointer[orchestrator.Event]
	news            atomic.Pointer[string] // what happened last
	rtts            atomic.Int64           // round-trip tests that have ended
	lost            map[string]bool        // regions whose machines are; events come one at a time

	redraw chan any // draws once for each value
	stop   chan struct{}
	once   sync.Once
}

// redrawEvery is short enough to look live, and long enough to be read.
const redrawEvery = 120 * time.Millisecond

func newBars(w io.Writer) *bars {
	redraw := make(chan any)
	b := &bars{
		Progress: mpb.New(mpb.WithOutput(w), mpb.WithWidth(32), mpb.WithManualRefresh(redraw)),
		out:      w, redraw: redraw, stop: make(chan struct{}), lost: map[string]bool{},
	}
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
	go b.draw()
	return b
}

// draw keeps the display up to date until stop is closed.
func (b *bars) draw() {
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	for {
		select {
		case t := <-tick.C:
			select {
			case b.redraw <- t:
			case <-b.stop:
				return
			}
		case <-b.stop:
			return
		}
	}
}

// Write puts p above the bars, and simply out when they are closed. The bars are
// redrawn from where the cursor is, which an echoed ^C moves.
func (b *bars) Write(p []byte) (int, error) {
	_, _ = io.WriteString(b.out, "\r")
	n, err := b.Progress.Write(p)
	if err != nil {
		return b.out.Write(p)
	}
	return n, nil
}

// pairsText fits beside the bar into 80 columns. Round trips come first, and no
// pair ends before it has its throughput: without their count nothing would
// seem to happen for a while.
func (b *bars) pairsText(p orchestrator.Progress) string {
	if p.Pairs == 0 {
		return "" // not known yet
	}
	text := fmt.Sprintf("%d/%d%s%s", p.Done(), max(p.Rows, p.Pairs), unless(p.Failed, "failed"), unless(p.Skipped, "skipped"))
	if n := b.rtts.Load(); p.Done() == 0 && n > 0 {
		return text + ", " + plural(int(n), "RTT test") + " done"
	}
	return text + ", " + units.Bytes(float64(p.Bytes)) + " moved"
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
	b.pairs.SetTotal(int64(max(p.Rows, p.Pairs)), false)
	b.pairs.SetCurrent(int64(p.Done()))
	text := describe(e)
	switch {
	case text == "":
	case b.stays(e):
		fmt.Fprintln(b, text)
	default:
		b.news.Store(&text)
	}
}

// stays is true for bad news, which is not to be overwritten by the next. That a
// machine is lost says it of all its pairs.
func (b *bars) stays(e orchestrator.Event) bool {
	switch e.Kind {
	case orchestrator.RegionChanged:
		lost := e.State == orchestrator.StateFailed || e.State == orchestrator.StateSkipped
		b.lost[e.Region] = b.lost[e.Region] || lost
		return lost
	case orchestrator.TeardownStalls:
		return true
	case orchestrator.PairEnded:
		r := e.Row
		return r.Status == results.StatusFailed && !b.lost[r.FromCloud+":"+r.FromRegion] && !b.lost[r.ToCloud+":"+r.ToRegion]
	}
	return false
}

// close draws what is not drawn yet, and leaves it standing.
func (b *bars) close() {
	b.once.Do(func() {
		close(b.stop)
		select {
		case b.redraw <- time.Now():
		case <-time.After(time.Second): // the terminal is gone, and the drawing with it
		}
		b.Shutdown()
	})
}
