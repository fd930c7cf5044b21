package analysis

import "math"

// moments sums up the rows of one pair, so that a resample of a million rows
// takes as long as there are pairs. All rows of a pair have the same distance.
type moments struct {
	n, y, yy float64 // number, sum and sum of squares of y less a common shift
}

func (m *moments) add(y float64) {
	m.n++
	m.y += y
	m.yy += y * y
}

// line is least squares and Pearson's r of weighted pairs. Both are NaN where
// x or y does not vary.
func line(kms []float64, ms []moments, weights []float64) (slope, r float64) {
	var n, x, y float64
	for k, m := range ms {
		w := weights[k]
		n += w * m.n
		x += w * m.n * kms[k]
		y += w * m.y
	}
	x /= n
	y /= n
	var xx, xy, yy float64
	for k, m := range ms {
		w, dx := weights[k], kms[k]-x
		xx += w * m.n * dx * dx
		xy += w * dx * (m.y - m.n*y)
		yy += w * (m.yy - 2*y*m.y + m.n*y*y)
	}
	if !(xx > 0 && yy > 0) {
		return math.NaN(), math.NaN()
	}
	return xy / xx, xy / math.Sqrt(xx*yy)
}
