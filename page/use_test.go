package page_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/page"
	"github.com/antipode-bench/antipode/units"
)

// kept is v as the page has it.
func kept(v float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 4, 64), 64)
	if err != nil {
		panic(err)
	}
	return short
}

// figuresOf is how a row of the table of pairs begins.
func figuresOf(in page.Input, p analysis.Pair, m analysis.PairMedian) string {
	rtt, over, rate := "failed", "–", "–"
	if m.OK > 0 {
		rtt, rate = units.Milliseconds(kept(m.RTTMs)), units.Rate(kept(m.GoodputBps))
		if p.Km >= 100 && !math.IsNaN(m.RTTMs) {
			over = fmt.Sprintf("× %.2f", kept(m.RTTMs)/antipode.FibreRTTMs(kept(p.Km)))
		}
	}
	d := in.Data
	return fmt.Sprintf("[%s %s %s km %s %s %s", d.Regions[p.From].ID(), d.Regions[p.To].ID(), units.Kilometres(kept(p.Km)), rtt, over, rate)
}

// Filters reach every view, and what is shown is what is downloaded.
func TestFilterAndDownload(t *testing.T) {
	in := world(12, true)
	w := show(t, in, 1280, 900, "light")
	if got, want := ask[string](w, `document.querySelector('.said').textContent`), "All 132 pairs"; got != want {
		t.Errorf("at first %q, want %q", got, want)
	}
	w.timed(`type("[name=text]", "us-east-1")`)
	if got, want := ask[string](w, `document.querySelector('.said').textContent`), "22 of 132 pairs"; got != want {
		t.Errorf("with a region's name %q, want %q", got, want)
	}
	if got := ask[int](w, `document.querySelectorAll('.matrix .c:is(.b0, .b1, .b2, .b3, .b4, .b5, .b6, .failed)').length`); got != 22 {
		t.Errorf("the matrix shows %d pairs, want 22", got)
	}
	text := ask[string](w, `(async () => {
		const made = new Promise((done) => { URL.createObjectURL = (blob) => { blob.text().then(done); return 'data:,'; }; });
		[...document.querySelectorAll('#pairs button')].find((b) => b.textContent.includes('CSV')).click();
		return made;
	})()`)
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(lines) != 23 {
		t.Fatalf("%d lines of CSV, %v; want 23", len(lines), err)
	}
	if got := strings.Join(lines[0][:4], ","); got != "from_cloud,from_region,to_cloud,to_region" {
		t.Errorf("the CSV begins %s", got)
	}
	for _, l := range lines[1:] {
		if l[1] != "us-east-1" && l[3] != "us-east-1" {
			t.Errorf("the CSV has %v, which is not shown", l[:4])
		}
	}
	w.quiet()
}

// All can be done without a mouse.
func TestKeyboard(t *testing.T) {
	in := world(6, true)
	w := show(t, in, 1280, 900, "light")
	first := `document.querySelector('#matrix [role=gridcell][tabindex="0"]')`
	ask[bool](w, first+`.focus() ?? true`)
	w.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	words := ask[string](w, `document.activeElement.getAttribute('aria-label')`)
	if words == "" || words != ask[string](w, `document.querySelector('#matrix .live').textContent`) {
		t.Errorf("the square that has the focus is called %q", words)
	}
	w.do(chromedp.KeyEvent(kb.Enter))
	pair, _, _ := strings.Cut(words, ". ")
	if got := ask[string](w, `document.querySelector('#pair[open] h2').textContent`); got != pair {
		t.Errorf("Enter opens %q, want %q", got, pair)
	}
	w.do(chromedp.KeyEvent(kb.Escape))
	if ask[bool](w, `document.querySelector('#pair').open`) {
		t.Error("Escape leaves the dialog open")
	}
	w.quiet()
}

// A pair's dialog says what the row says.
func TestPairSaysWhatLimitedIt(t *testing.T) {
	in := world(6, true)
	w := show(t, in, 1280, 900, "light")
	at := in.Data.Series[0].Obs
	row := in.Data.Rows[at]
	name := in.Data.Regions[in.Data.Pairs[in.Data.Obs[at].Pair].From].ID() + " to " + in.Data.Regions[in.Data.Pairs[in.Data.Obs[at].Pair].To].ID()
	text := ask[string](w, fmt.Sprintf(`(async () => { document.querySelector('#pairs [aria-label="Tests of %s"]').click(); await %s; return document.querySelector('#pair').textContent })()`, name, shown))
	for _, want := range []string{"Limited by " + row.LimitedBy, row.LimitedByEvidence, units.Milliseconds(kept(*row.RTTP50Ms)), units.Rate(kept(*row.GoodputBps)), "m7i.large → n2-standard-2"} {
		if !strings.Contains(text, want) {
			t.Errorf("the dialog lacks %q:\n%s", want, text)
		}
	}
	w.quiet()
}
