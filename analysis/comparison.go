package analysis

// Comparison is what `antipode compare` finds between rows of two or more
// sides: files, runs, or slices of them.
type Comparison struct {
	Sides     []Side             `json:"sides"`    // the first is what the others are compared with
	Matched   string             `json:"matched"`  // what pairs were matched by, for people
	AtLeast   float64            `json:"at_least"` // changes of a smaller ratio are not reported
	Metrics   []MetricComparison `json:"metrics"`
	Sentences []string           `json:"summary"`
}

// Side is one of the things compared.
type Side struct {
	Name  string `json:"name"`
	Rows  int    `json:"rows"`  // that are ok
	Pairs int    `json:"pairs"` // with such a row
}

// What pairs are compared by.
const (
	MetricGoodput = "goodput_bps"
	MetricRTT     = "rtt_ms"
)

// What became of a pair.
const (
	Regression  = "regression"
	Improvement = "improvement"
	Same        = "no difference" // none that can be told, or a smaller one than asked for
	TooFew      = "too few repetitions to tell"
)

// MetricComparison compares one side with the first by one metric.
type MetricComparison struct {
	Metric    string           `json:"metric"`
	Base      int              `json:"base"` // index Comparison.Sides
	Other     int              `json:"other"`
	Pairs     []PairComparison `json:"pairs"`     // regressions, worst first; improvements, best first; the others by name
	Overall   *Estimate        `json:"overall"`   // geometric mean of the pairs' ratios, its interval from the bootstrap over regions; nil without pairs
	OnlyBase  []string         `json:"only_base"` // pairs that the other side has not measured
	OnlyOther []string         `json:"only_other"`
	Tested    int              `json:"tested"`             // pairs that the significance is corrected for
	Needed    int              `json:"repetitions_needed"` // of each side, for every pair to be told
}

// PairComparison compares the repetitions of one pair.
type PairComparison struct {
	From        string   `json:"from"`
	To          string   `json:"to"`
	BaseN       int      `json:"base_n"` // repetitions: rows that are ok
	OtherN      int      `json:"other_n"`
	BaseMedian  float64  `json:"base_median"`
	OtherMedian float64  `json:"other_median"`
	Ratio       float64  `json:"ratio"` // of the medians, other over base
	Low         *float64 `json:"low"`   // its 95 % interval; nil where there are too few repetitions for one
	High        *float64 `json:"high"`
	P           float64  `json:"p"`          // Mann-Whitney's U test
	PAdjusted   float64  `json:"p_adjusted"` // for the number of pairs
	Verdict     string   `json:"verdict"`
}

// Count is how many pairs have the verdict.
func (m *MetricComparison) Count(verdict string) int {
	n := 0
	for _, p := range m.Pairs {
		if p.Verdict == verdict {
			n++
		}
	}
	return n
}

// Worse says by how much the pair got worse, as a ratio: 0.1 is a goodput 10 %
// less, or an RTT 10 % longer. It is negative where it got better.
func (p *PairComparison) Worse(metric string) float64 {
	if metric == MetricRTT {
		return p.Ratio - 1
	}
	return 1 - p.Ratio
}
