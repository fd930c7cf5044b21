package analysis

import (
	"fmt"
	"strings"
)

// say puts the comparison into sentences.
func (c *Comparison) say() (sentences []string) {
	for i := range c.Metrics {
		m := &c.Metrics[i]
		sentences = append(sentences, fmt.Sprintf("%s, %s against %s: %s.", metricTitle(m.Metric), c.Sides[m.Other].Name, c.Sides[m.Base].Name, m.sayPairs(c.AtLeast)))
		if n := m.Count(TooFew); n > 0 {
			sentences = append(sentences, fmt.Sprintf("%s too few repetitions to tell: for %s it takes %d of each side.",
				counted(n, "pair has", "pairs have"), counted(len(m.Pairs), "pair", "pairs"), m.Needed))
		}
	}
	return sentences
}

func (m *MetricComparison) sayPairs(atLeast float64) string {
	if len(m.Pairs) == 0 {
		return "no pair was measured on both sides"
	}
	parts := []string{
		fmt.Sprintf("%s compared", counted(len(m.Pairs), "pair", "pairs")),
		counted(m.Count(Regression), "regression", "regressions"),
		counted(m.Count(Improvement), "improvement", "improvements"),
		fmt.Sprintf("%s without a difference of %.0f %% or more that can be told", number(m.Count(Same)), 100*atLeast),
	}
	parts = append(parts, fmt.Sprintf("on the whole times %.3f%s", m.Overall.Value, within(*m.Overall, "%.3f")))
	if n := len(m.OnlyBase) + len(m.OnlyOther); n > 0 {
		parts = append(parts, counted(n, "pair", "pairs")+" unmatched")
	}
	return strings.Join(parts, ", ")
}

func metricTitle(metric string) string {
	if metric == MetricRTT {
		return "RTT"
	}
	return "Goodput"
}
