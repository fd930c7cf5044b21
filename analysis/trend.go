package analysis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/antipode-bench/antipode/results"
)

// MinPoints is the least number of points that say anything about a line: two
// always lie on one.
const MinPoints = 3

// Point is one row's place in a plot over distance.
type Point struct {
	Km    float64
	Y     float64
	Group string // of the row, as of GroupOf
}

// Trend is how a figure goes with great-circle distance.
type Trend struct {
	Points []Point
	Absent int    // rows that are ok but lack the figure, its logarithm or the distance
	Fit    *Fit   // nil when there is none
	NoFit  string // why there is none
}

// Fit is the least-squares line Y = Intercept + Slope * km.
type Fit struct {
	N                int
	R                float64 // Pearson's correlation, -1 to 1
	Slope, Intercept float64
}

// At is the line's Y at a distance.
func (f Fit) At(km float64) float64 { return f.Intercept + f.Slope*km }

func trend(rows []results.Row, figure func(results.Row) *float64) Trend {
	var t Trend
	for _, r := range rows {
		if r.Status != results.StatusOK {
			continue
		}
		y := figure(r)
		if !usable(r.DistanceKm) || !usable(y) {
			t.Absent++
			continue
		}
		t.Points = append(t.Points, Point{Km: *r.DistanceKm, Y: *y, Group: GroupOf(r)})
	}
	t.Fit, t.NoFit = fit(t.Points)
	return t
}

func usable(v *float64) bool { return v != nil && !math.IsNaN(*v) && !math.IsInf(*v, 0) }

func fit(points []Point) (*Fit, string) {
	if len(points) < MinPoints {
		return nil, fmt.Sprintf("too few points for a line (%d needed)", MinPoints)
	}
	var kms, ys []float64
	for _, p := range points {
		kms, ys = append(kms, p.Km), append(ys, p.Y)
	}
	if constant(kms) {
		return nil, "all distances are the same"
	}
	if constant(ys) {
		return nil, "all values are the same"
	}
	f := Fit{N: len(points), R: stat.Correlation(kms, ys, nil)}
	f.Intercept, f.Slope = stat.LinearRegression(kms, ys, nil, false)
	return &f, ""
}

func constant(vs []float64) bool {
	for _, v := range vs {
		if v != vs[0] {
			return false
		}
	}
	return true
}
