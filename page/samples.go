package page

import (
	"math"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
)

// MostPoints is how many intervals of a test the page keeps. A longer test's are
// joined, two or more to one, so that the page can be sent by e-mail.
const MostPoints = 120

// levels that a rate or an RTT is told apart in, from 0 to the test's highest:
// finer than a screen shows.
const levels = 1<<12 - 1

// series say where the samples of a row's test are. Slices are parallel. The
// samples block holds three runs of 16-bit numbers, each as all its low bytes
// and then all its high ones: the intervals in ms, the rates, the RTTs.
type series struct {
	Row    []int32 `json:"row"` // rising
	Points []int   `json:"points"`
	Joined []int   `json:"joined"` // intervals of the test in a point
	MaxBps numbers `json:"max_bps"`
	MaxMs  numbers `json:"max_ms"` // 0: no RTT is known
}

func seriesOf(d *analysis.Data) (series, []byte) {
	var s series
	var intervals, rates, rtts []uint16
	for _, one := range d.Series {
		joined := (len(one.AtS) + MostPoints - 1) / MostPoints
		if joined == 0 {
			continue
		}
		p := join(one.Series, joined)
		maxBps, maxMs := top(p.GoodputBps), top(p.RTTMs)
		s.Row, s.Points, s.Joined = append(s.Row, one.Obs), append(s.Points, len(p.AtS)), append(s.Joined, joined)
		s.MaxBps, s.MaxMs = append(s.MaxBps, maxBps), append(s.MaxMs, maxMs)
		before := 0.0
		for i, at := range p.AtS {
			now := math.Round(float64(at) * 1000)
			intervals = append(intervals, uint16(min(max(now-before, 0), math.MaxUint16)))
			rates = append(rates, level(p.GoodputBps[i], maxBps))
			rtts = append(rtts, level(p.RTTMs[i], maxMs))
			before = now
		}
	}
	return s, append(append(planes(intervals), planes(rates)...), planes(rtts)...)
}

// join makes one interval of n: the rate is their mean by time, the RTT their last.
func join(s results.Series, n int) results.Series {
	if n == 1 {
		return s
	}
	var j results.Series
	begin := float32(0)
	for i := 0; i < len(s.AtS); i += n {
		end := min(i+n, len(s.AtS))
		sum, rtt := float32(0), float32(0)
		start := begin
		for k := i; k < end; k++ {
			sum += s.GoodputBps[k] * (s.AtS[k] - begin)
			begin = s.AtS[k]
			if s.RTTMs[k] > 0 {
				rtt = s.RTTMs[k]
			}
		}
		mean := float32(0)
		if begin > start {
			mean = sum / (begin - start)
		}
		j.AtS, j.GoodputBps, j.RTTMs = append(j.AtS, begin), append(j.GoodputBps, mean), append(j.RTTMs, rtt)
	}
	return j
}

func top(values []float32) float64 {
	most := 0.0
	for _, v := range values {
		most = max(most, float64(v))
	}
	return most
}

func level(v float32, most float64) uint16 {
	if most == 0 {
		return 0
	}
	return uint16(math.Round(float64(v) / most * levels))
}

// planes packs better than the numbers as they are: high bytes resemble each other.
func planes(n []uint16) []byte {
	b := make([]byte, 2*len(n))
	for i, v := range n {
		b[i], b[len(n)+i] = byte(v), byte(v>>8)
	}
	return b
}
