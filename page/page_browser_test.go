package page_test

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/antipode-bench/antipode/page"
)

// axe is Deque's checker of accessibility, from the npm packages that are
// committed with the page's source.
func axe(t *testing.T) string {
	t.Helper()
	file, err := os.Open("bundle/modules.tgz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("bundle/modules.tgz: axe-core/axe.min.js: %v", err)
		}
		if h.Name == "axe-core/axe.min.js" {
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
}

// A browser shows the whole page without a request, a complaint, or anything that
// axe holds against it: as it opens, and with a pair's tests over it.
func TestPageIsAccessible(t *testing.T) {
	checker := axe(t)
	for _, c := range []struct {
		name, scheme string
		in           page.Input
	}{
		{"5,852 pairs", "light", whole()},
		{"5,852 pairs", "dark", whole()},
		{"30 pairs", "light", world(6, true)},
		{"30 pairs", "dark", world(6, true)},
	} {
		t.Run(c.scheme+", "+c.name, func(t *testing.T) {
			w := show(t, c.in, 1280, 900, c.scheme)
			if got := ask[string](w, `document.documentElement.dataset.theme`); got != c.scheme {
				t.Errorf("theme %q, want %q", got, c.scheme)
			}
			w.do(chromedp.Evaluate[chromedp.Void](checker + "; undefined"))
			w.pass("the page")
			ask[bool](w, `(async () => { document.querySelector('#pairs tbody button').click(); await `+shown+`; return true })()`)
			w.pass("a pair's tests")
			w.quiet()
		})
	}
}

// shown waits until the dialog has the test's chart.
const shown = `new Promise((done, fail) => {
	const end = performance.now() + 20000;
	const look = () => document.querySelector('#pair .samples canvas') ? done(true) : performance.now() > end ? fail(new Error('no chart of samples')) : setTimeout(look, 20);
	look();
})`

// pass is an error for each violation that axe finds.
func (w *tab) pass(what string) {
	w.t.Helper()
	found := ask[[]string](w, `axe.run(document).then((r) => r.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.length + " nodes, " + v.nodes[0].html.slice(0, 200) + " " + v.nodes[0].failureSummary))`)
	for _, f := range found {
		w.t.Errorf("%s: %s", what, f)
	}
}

// boxes of everything that is written over something else's room.
const boxes = `[
	...[...document.querySelectorAll('.rh span, .ch span, .map-labels span, .legend .item, .corner')].map((e) => {
		const b = e.getBoundingClientRect();
		return {text: e.textContent, group: e.parentElement.closest('.rh, .heads') ? 'matrix' : e.closest('section').id || e.closest('section').dataset.view, left: b.left, right: b.right, top: b.top, bottom: b.bottom};
	}),
	...document.querySelector('.scatter').labelBoxes().map((b) => ({...b, group: 'axes'})),
].filter((b) => b.right > b.left)`

type box struct {
	Text, Group              string
	Left, Right, Top, Bottom float64
}

func (b box) over(o box) bool {
	const slack = 0.5 // px
	return b.Group == o.Group && b.Left < o.Right-slack && o.Left < b.Right-slack && b.Top < o.Bottom-slack && o.Top < b.Bottom-slack
}

func TestNoLabelIsOnAnother(t *testing.T) {
	for name, c := range map[string]struct {
		in            page.Input
		width, height int
	}{
		"wide":   {whole(), 1280, 900},
		"narrow": {whole(), 700, 900},
		"small":  {world(6, false), 1280, 900},
		"phone":  {world(6, false), 390, 800},
	} {
		t.Run(name, func(t *testing.T) {
			w := show(t, c.in, c.width, c.height, "light")
			for _, deed := range []string{"", `choose("#map select", "fastest")`, `choose("#map select", "from:0")`, `choose("#matrix select", "name")`} {
				w.timed(deed)
				all := ask[[]box](w, boxes)
				if len(all) < 30 {
					t.Fatalf("%d labels: the test would prove nothing", len(all))
				}
				w.apart(deed, all)
			}
			if got := ask[int](w, `document.documentElement.scrollWidth`); got > c.width {
				t.Errorf("the page is %d px wide, wider than the window's %d", got, c.width)
			}
		})
	}
}

func (w *tab) apart(deed string, all []box) {
	w.t.Helper()
	for i, a := range all {
		for _, b := range all[:i] {
			if a.over(b) {
				w.t.Errorf("after %q: in %s %q is on %q", deed, a.Group, a.Text, b.Text)
			}
		}
	}
}

// The page's figures are written as Go's are.
func TestFiguresAreGos(t *testing.T) {
	in := world(6, true)
	w := show(t, in, 1280, 900, "light")
	rows := ask[[][]string](w, `[...document.querySelectorAll('#pairs tbody tr:not(.space)')].map((r) => [...r.cells].map((c) => c.textContent))`)
	if len(rows) != 30 {
		t.Fatalf("%d rows, want 30", len(rows))
	}
	for i, p := range in.Data.Pairs {
		m := in.Data.Medians()[i]
		want := figuresOf(in, p, m)
		found := false
		for _, r := range rows {
			found = found || strings.HasPrefix(fmt.Sprint(r), want)
		}
		if !found {
			t.Errorf("no row begins %s", want)
		}
	}
}
