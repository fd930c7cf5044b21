package charts

import (
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// labels joins the labels; a dot stands for a mark without one.
func labels(ticks []plot.Tick) string {
	var all []string
	for _, t := range ticks {
		if t.Label == "" {
			t.Label = "."
		}
		all = append(all, t.Label)
	}
	return strings.Join(all, " ")
}

func TestLinearTicks(t *testing.T) {
	for _, c := range []struct {
		most float64
		want string
	}{
		{20_015, "0 5,000 10,000 15,000 20,000"},
		{12_000, "0 2,000 4,000 6,000 8,000 10,000 12,000"},
		{1030, "0 200 400 600 800 1,000"},
		{345, "0 100 200 300"},
		{14, "0.0 2.5 5.0 7.5 10.0 12.5"},
		{1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0.14, "0.000 0.025 0.050 0.075 0.100 0.125"},
		{0.06, "0.00 0.01 0.02 0.03 0.04 0.05 0.06"},
	} {
		if got := labels(linearTicks{}.Ticks(0, c.most)); got != c.want {
			t.Errorf("0 to %v: %q, want %q", c.most, got, c.want)
		}
	}
}

func TestRateTicks(t *testing.T) {
	for name, c := range map[string]struct {
		least, most float64
		want        string
	}{
		"narrow": {4.5e8, 2.1e9, "500 Mbit/s . . . . 1 Gbit/s 2 Gbit/s"},
		"wide":   {9e5, 1.1e9, ". 1 Mbit/s . . . . . . . . 10 Mbit/s . . . . . . . . 100 Mbit/s . . . . . . . . 1 Gbit/s"},
		"slow":   {0.9, 21, ". 1 bit/s 2 bit/s . . 5 bit/s . . . . 10 bit/s 20 bit/s"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := labels(rateTicks{}.Ticks(c.least, c.most)); got != c.want {
				t.Errorf("%v to %v:\ngot  %q\nwant %q", c.least, c.most, got, c.want)
			}
		})
	}
}

func TestRateRangeHoldsTheData(t *testing.T) {
	for least := 1.0; least < 1e12; least *= 3.7 {
		for _, factor := range []float64{1, 1.01, 2, 10, 1e4} {
			low, high := rateRange(least, least*factor)
			if low >= least || high <= least*factor || high/low < 9.999 {
				t.Fatalf("%v to %v: axis from %v to %v", least, least*factor, low, high)
			}
			var named int
			for _, tick := range (rateTicks{}).Ticks(low, high) {
				if tick.Label != "" {
					named++
				}
			}
			if named < 2 || named > 10 {
				t.Fatalf("%v to %v: %d labels", low, high, named)
			}
		}
	}
}
