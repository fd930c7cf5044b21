package page_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// again is how often each thing is timed, after once unmeasured.
const again = 5

// BenchmarkPage says how long a browser takes for 5,852 pairs: medians of five
// after a warm-up, from the deed to the painted frame. The targets are beside them.
func BenchmarkPage(b *testing.B) {
	w := show(b, whole(), 1280, 900, "light")
	said := func(what string, ms float64, target int) {
		fmt.Printf("%-44s %5.0f ms (at most %d)\n", what, ms, target)
	}
	said("open until all is painted", middle(func(int) float64 { return w.reload() }), 1200)
	orders := []string{"rtt", "name", "bps", "cloud", "longitude", "name"}
	said("matrix: sort", middle(func(k int) float64 { return w.timed(fmt.Sprintf(`choose("#matrix select", %q)`, orders[k])) }), 100)
	said("matrix: colour by the other figure", middle(func(k int) float64 {
		return w.timed(fmt.Sprintf(`document.querySelectorAll("[name=matrix-metric]")[%d].click()`, 1-k%2))
	}), 300)
	said("filter: one cloud pair off, or on", middle(func(int) float64 { return w.timed(`document.querySelector("[name=group]").click()`) }), 300)
	texts := []string{"eu-", "us", "asia", "tokyo", "", "sydney"}
	said("filter: regions by text", middle(func(k int) float64 { return w.timed(fmt.Sprintf(`type("[name=text]", %q)`, texts[k])) }), 300)
	w.timed(`type("[name=text]", "")`)
	said("filter: distance", middle(func(k int) float64 { return w.timed(fmt.Sprintf(`type("[name=km-to]", %d)`, 3000+2000*k)) }), 300)
	only := []string{"failed", "all", "limit:1", "flag:2", "measured", "all"}
	said("filter: what to show", middle(func(k int) float64 { return w.timed(fmt.Sprintf(`choose(".filters select", %q)`, only[k])) }), 300)
	said("map: another region's arcs", middle(func(k int) float64 { return w.timed(fmt.Sprintf(`choose("#map select", "from:%d")`, k)) }), 300)
	w.quiet()
}

// middle is the median of five after one that does not count.
func middle(one func(k int) float64) float64 {
	var all []float64
	for k := range again + 1 {
		if ms := one(k); k > 0 {
			all = append(all, ms)
		}
		time.Sleep(300 * time.Millisecond) // until it is idle
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// hands are what a reader does.
const hands = `
	const change = (selector, kind, value) => {
		const element = document.querySelector(selector);
		element.value = value;
		element.dispatchEvent(new Event(kind, {bubbles: true}));
	};
	const choose = (selector, value) => change(selector, 'change', value);
	const type = (selector, value) => change(selector, 'input', value);
`

// timed does something and returns the ms until its frame is painted: the frame
// after the one that draws begins when that one is done.
func (w *tab) timed(deed string) float64 {
	w.t.Helper()
	return ask[float64](w, `(async () => {`+hands+`
		const begin = performance.now();
		`+deed+`;
		await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
		return performance.now() - begin;
	})()`)
}
