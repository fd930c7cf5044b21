package charts

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"github.com/antipode-bench/antipode/units"
)

// linearTicks marks whole multiples of a round step, about six of them, with
// separated thousands.
type linearTicks struct{}

func (linearTicks) Ticks(least, most float64) []plot.Tick {
	step := roundStep((most - least) / 6)
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	if leading := step * math.Pow10(decimals); leading != math.Trunc(leading) {
		decimals++ // 2.5
	}
	var ticks []plot.Tick
	for i := math.Ceil(least / step); i*step <= most*(1+1e-9); i++ {
		v := i * step
		ticks = append(ticks, plot.Tick{Value: v, Label: units.Thousands(strconv.FormatFloat(v, 'f', decimals, 64))})
	}
	return ticks
}

// roundStep is the least of 1, 2, 2.5 or 5 times a power of ten that is not
// below least.
func roundStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= least*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// rateTicks marks powers of ten in bit/s, with unlabelled marks between them;
// over less than three decades twice and five times a power have labels too.
type rateTicks struct{}

func (rateTicks) Ticks(least, most float64) []plot.Tick {
	narrow := most/least < 1000
	var ticks []plot.Tick
	for power := math.Pow(10, math.Floor(math.Log10(least))); power <= most; power *= 10 {
		for m := 1.0; m < 10; m++ {
			tick := plot.Tick{Value: m * power}
			if m == 1 || narrow && (m == 2 || m == 5) {
				tick.Label = rateLabel(tick.Value)
			}
			if tick.Value >= least && tick.Value <= most {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

// rateLabel is as short as a rate can be: "10 Mbit/s".
func rateLabel(bps float64) string {
	number, unit, _ := strings.Cut(units.Rate(bps), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + " " + unit
}

// rateRange is the range of a logarithmic axis around rates from least to most
// in bit/s: some air at both ends, and a decade or more.
func rateRange(least, most float64) (low, high float64) {
	const air = 1.5
	low, high = least/air, most*air
	if short := 10 / (high / low); short > 1 {
		low, high = low/math.Sqrt(short), high*math.Sqrt(short)
	}
	return low, high
}
