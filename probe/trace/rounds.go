package trace

import (
	"math"
	"slices"
	"time"
)

// round is about a round trip of a log, as indices of its ends: the shortest
// span in which a flow can answer to what the path did.
type round struct {
	from, to int
	rate     float64       // bytes per second that arrived
	repeated int64         // bytes sent again
	window   float64       // mean congestion window, bytes
	queue    time.Duration // low quartile of what round trips took above the least
}

// nextRound is the round that begins at a sample and ends with the last one;
// false while it is not over.
func (l Log) nextRound(from int) (round, bool) {
	to := len(l) - 1
	if to <= from || l[to].At-l[from].At < l.round(to) {
		return round{}, false
	}
	r := round{from: from, to: to, rate: l.Rate(from, to), repeated: l[to].Repeated - l[from].Repeated}
	queues := make([]time.Duration, 0, to-from)
	for _, s := range l[from+1 : to+1] {
		r.window += float64(s.Window) / float64(to-from)
		queues = append(queues, s.SRTT-s.MinRTT)
	}
	slices.Sort(queues)
	r.queue = queues[len(queues)/4]
	return r, true
}

// rounds cuts a part of a log into rounds; what is left at its end is in none.
func (l Log) rounds(p Part) []round {
	var all []round
	from := p.From
	for to := from + 1; to <= p.To; to++ {
		if r, over := l[:to+1].nextRound(from); over {
			all = append(all, r)
			from = r.to
		}
	}
	return all
}

// ErrorRatio is half the width of the 95 % confidence interval of a part's
// rate, over the rate; 0 if it has too few rounds to tell.
func (l Log) ErrorRatio(p Part) float64 {
	mean, half := interval(l.rounds(p))
	if mean == 0 || math.IsInf(half, 1) {
		return 0
	}
	return half / mean
}

// interval is the mean rate of rounds and half the width of its 95 % confidence
// interval. Neighbouring rounds are not independent: n of them with the lag-one
// correlation rho tell as much as n (1-rho)/(1+rho) independent ones (von Storch
// and Zwiers, "Statistical Analysis in Climate Research", 1999, section 6.6.8).
func interval(rounds []round) (mean, half float64) {
	n := float64(len(rounds))
	for _, r := range rounds {
		mean += r.rate / n
	}
	if n < 3 {
		return mean, math.Inf(1)
	}
	var squares, lagged float64
	for i, r := range rounds {
		squares += (r.rate - mean) * (r.rate - mean)
		if i > 0 {
			lagged += (r.rate - mean) * (rounds[i-1].rate - mean)
		}
	}
	if squares == 0 {
		return mean, 0
	}
	rho := min(max(lagged/squares, leastCorrelated), mostCorrelated)
	deviation := math.Sqrt(squares / (n - 1))
	return mean, student(len(rounds)-1) * deviation / math.Sqrt(n*(1-rho)/(1+rho))
}

const (
	// mostCorrelated keeps a handful of rounds that rise or fall from being worth
	// nothing at all.
	mostCorrelated = 0.9
	// leastCorrelated are rounds between which bursts are divided by chance: what
	// the one has too much the next has too little.
	leastCorrelated = -0.5
)

// student is the 97.5 % quantile of Student's t distribution, to 1 % (a table
// for few degrees of freedom, then the first terms of its expansion in 1/df).
func student(df int) float64 {
	few := []float64{12.71, 4.303, 3.182, 2.776, 2.571, 2.447}
	if df <= len(few) {
		return few[max(df, 1)-1]
	}
	return 1.96 + 2.372/float64(df) + 2.823/float64(df*df)
}
