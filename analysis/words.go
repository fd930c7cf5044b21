package analysis

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/antipode-bench/antipode/results"
	"github.com/antipode-bench/antipode/units"
)

// say puts a group's figures into sentences.
func (g *GroupReport) say() []string {
	title := "All pairs"
	if g.Name != All {
		from, to, _ := strings.Cut(g.Name, "-")
		title = cloudTitle(from) + " to " + cloudTitle(to)
	}
	first := fmt.Sprintf("%s: %s of %s between %s; %s ok, %s failed, %s skipped.", title,
		counted(g.Rows, "row", "rows"), counted(g.Pairs, "measured directed pair", "measured directed pairs"), counted(g.Regions, "region", "regions"),
		number(g.OK), number(g.Failed), number(g.Skipped))
	sentences := []string{first, g.sayRTT(), g.sayGoodput()}
	if g.Inflation.N > 0 {
		sentences = append(sentences, fmt.Sprintf("The median pair's RTT is %.2f times what light needs in fibre along the great circle%s; a tenth of the pairs take more than %.1f times as long (%s farther apart than %d km).",
			g.Inflation.Median.Value, within(g.Inflation.Median, "%.2f"), g.Inflation.P90, counted(g.Inflation.N, "pair", "pairs"), InflationKm))
	}
	if g.RTT.Caution != "" || g.Goodput.Caution != "" {
		sentences = append(sentences, fmt.Sprintf("Too few regions for intervals (%d of each cloud are needed): what holds here need not hold for other regions.", MinRegions))
	}
	return sentences
}

func (g *GroupReport) sayRTT() string {
	r := g.RTT
	switch {
	case g.RTTMs.N == 0:
		return "No row has an RTT."
	case r.N == 0:
		return fmt.Sprintf("RTT: median %s; no row has a distance too.", units.Milliseconds(g.RTTMs.Median.Value))
	case r.NoFit != "":
		return fmt.Sprintf("RTT (median %s) and distance: %s.", units.Milliseconds(g.RTTMs.Median.Value), r.NoFit)
	}
	s := r.LeastSquares.SlopePerKm
	return fmt.Sprintf("RTT (median %s) %s: r = %s%s, rho = %s%s; %s per 1,000 km%s by least squares, %s%s by Theil-Sen.",
		units.Milliseconds(g.RTTMs.Median.Value), r.verdict("grows", "falls"),
		signed(r.Pearson.Value, "%.3f"), within(*r.Pearson, "%.3f"), signed(r.Spearman.Value, "%.3f"), within(*r.Spearman, "%.3f"),
		signed(1000*s.Value, "%.2f ms"), within(scaled(s, 1000), "%.2f"),
		signed(1000*r.TheilSen.SlopePerKm.Value, "%.2f"), within(scaled(r.TheilSen.SlopePerKm, 1000), "%.2f"))
}

func (g *GroupReport) sayGoodput() string {
	r := g.Goodput
	switch {
	case g.GoodputBps.N == 0:
		return "No row has a goodput."
	case r.N == 0:
		return fmt.Sprintf("Goodput: median %s; no row has a distance too.", units.Rate(g.GoodputBps.Median.Value))
	case r.NoFit != "":
		return fmt.Sprintf("Goodput (median %s) and distance: %s.", units.Rate(g.GoodputBps.Median.Value), r.NoFit)
	}
	factor := func(s Estimate) Estimate { return mapped(s, func(v float64) float64 { return math.Pow(10, 1000*v) }) }
	least, sen := factor(r.LeastSquares.SlopePerKm), factor(r.TheilSen.SlopePerKm)
	return fmt.Sprintf("Goodput (median %s) %s: r of its logarithm = %s%s, rho = %s%s; times %.3f%s per 1,000 km by least squares, %.3f%s by Theil-Sen.",
		units.Rate(g.GoodputBps.Median.Value), r.verdict("grows", "falls"),
		signed(r.Pearson.Value, "%.3f"), within(*r.Pearson, "%.3f"), signed(r.Spearman.Value, "%.3f"), within(*r.Spearman, "%.3f"),
		least.Value, within(least, "%.3f"), sen.Value, within(sen, "%.3f"))
}

// verdict says what holds, and how surely.
func (r *Relation) verdict(grows, falls string) string {
	p, s := *r.Pearson, *r.Spearman
	word := grows
	if s.Value < 0 {
		word = falls
	}
	switch {
	case s.Low == nil || p.Low == nil:
		return word + " with distance in these rows, which are of too few regions to say more"
	case *s.Low <= 0 && *s.High >= 0 || *p.Low <= 0 && *p.High >= 0:
		return "can't be told to go with distance"
	case math.Abs(s.Value) >= 0.7:
		return word + " clearly with distance"
	case math.Abs(s.Value) >= 0.4:
		return word + " with distance, among other things"
	}
	return word + " a little with distance"
}

// summary says in a few sentences what a reader should know first.
func (r *Report) summary() []string {
	c := r.Rows
	sentences := []string{fmt.Sprintf("%s from %s: %s ok, %s failed, %s skipped; %s, %s.",
		counted(c.Accepted, "row", "rows"), counted(len(r.Sources), "source", "sources"), number(c.OK), number(c.Failed), number(c.Skipped),
		counted(c.Regions, "region", "regions"), counted(c.Pairs, "directed pair", "directed pairs"))}
	sentences = append(sentences, r.sayRemarks()...)
	if c.SetApart > 0 {
		sentences = append(sentences, fmt.Sprintf("%s could not be read as rows and %s set apart.", counted(c.SetApart, "line", "lines"), isAre(c.SetApart)))
	}
	if c.Within > 0 {
		sentences = append(sentences, fmt.Sprintf("%s within one region and in no figure here.", counted(c.Within, "row is", "rows are")))
	}
	if c.Unplaced > 0 {
		sentences = append(sentences, fmt.Sprintf("Of %s nobody knows the distance: they are in no figure over distance.", counted(c.Unplaced, "row", "rows")))
	}
	if all := r.Groups[0]; all.OK > 0 {
		sentences = append(sentences, all.Sentences[1:]...)
	}
	for _, check := range r.Checks {
		if check.Rows > 0 {
			sentences = append(sentences, fmt.Sprintf("%s: %s of %s.", check.Title, number(check.Rows), counted(check.Checked, "row", "rows")))
		}
	}
	for _, m := range r.Misplaced {
		sentences = append(sentences, m.Sentence)
	}
	if r.NotPlaced != "" {
		sentences = append(sentences, r.NotPlaced)
	}
	return sentences
}

// sayRemarks says what one must know of rows before their figures are quoted.
func (r *Report) sayRemarks() (sentences []string) {
	meanings := map[string]string{
		results.FlagLab:       "measured on the lab, whose delays and rates are made up: that says nothing about a cloud",
		results.FlagLabBusy:   "measured while the lab's computer was too busy to be exact",
		results.FlagSlowStart: "a lower bound of the goodput: the test ended before slow start did",
		"burst":               "above what a machine gets in the long run: it lasts only while its credits do",
	}
	for _, remark := range r.Remarks {
		if meaning := meanings[remark.Flag]; meaning != "" {
			sentences = append(sentences, fmt.Sprintf("%s %s.", counted(remark.Rows, "row is", "rows are"), meaning))
		}
	}
	return sentences
}

// cloudTitle is a cloud's name for people.
func cloudTitle(cloud string) string {
	switch cloud {
	case "aws", "gcp":
		return strings.ToUpper(cloud)
	case "azure":
		return "Azure"
	}
	return cloud
}

// within is an interval in brackets, or nothing.
func within(e Estimate, format string) string {
	if e.Low == nil || e.High == nil {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", signed(*e.Low, format), signed(*e.High, format))
}

// signed writes a minus that is as wide as a plus.
func signed(v float64, format string) string {
	return strings.Replace(fmt.Sprintf(format, v), "-", "\u2212", 1)
}

func scaled(e Estimate, by float64) Estimate {
	return mapped(e, func(v float64) float64 { return by * v })
}

// mapped applies a function that only grows.
func mapped(e Estimate, f func(float64) float64) Estimate {
	m := Estimate{Value: f(e.Value)}
	if e.Low != nil && e.High != nil {
		m.Low, m.High = new(f(*e.Low)), new(f(*e.High))
	}
	return m
}

func number(n int) string { return units.Thousands(strconv.Itoa(n)) }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
