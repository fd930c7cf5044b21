package trace

import (
	"math"
	"slices"
	"time"
)

// Flags of a test that was to end by itself and did not.
const (
	// FlagTimeCap: the limits of the test came before its rate was known.
	FlagTimeCap = "time-cap"
	// FlagLossRegulated: the rate is what congestion control makes of losses.
	// It wavers for longer than the test was allowed to last.
	FlagLossRegulated = "loss-regulated"
	// FlagLossUnseen: the test was too short to see a loss so rare that it
	// would lower the rate of a longer flow. The rate is what the path carries.
	FlagLossUnseen = "loss-unseen"
)

const (
	leastRounds  = 3
	leastSpan    = 300 * time.Millisecond
	leastBytes   = 1 << 20
	halvesDiffer = 0.06 // at most, between the halves of what is judged
	// enoughLosses to know what they make of the rate: rounds that had some.
	enoughLosses = 5
)

// Rule ends a test as soon as its steady rate is known. It takes a growing log,
// sample by sample, and looks at it once a round.
type Rule struct {
	lossBased bool    // the congestion control cuts its window at a loss
	mss       int     // bytes
	segments  int64   // bytes: one of each stream
	within    float64 // wanted: half the confidence interval over the rate
	all       []round
	steady    int // the first round after slow start; 0: it is not over
}

// NewRule is a rule for a test under a congestion control, as Linux names it, of
// streams with segments of mss bytes, whose rate is wanted within a ratio.
func NewRule(congestionControl string, mss, streams int, within float64) *Rule {
	mss = max(mss, 1)
	return &Rule{lossBased: congestionControl != "bbr", mss: mss, segments: int64(mss * max(streams, 1)), within: within}
}

// Enough says whether the log, which has more samples than at the last call,
// is enough to know the steady rate.
func (r *Rule) Enough(l Log) bool {
	from := 0
	if n := len(r.all); n > 0 {
		from = r.all[n-1].to
	}
	last, over := l.nextRound(from)
	if !over {
		return false
	}
	r.all = append(r.all, last)
	return r.pastSlowStart() && r.known(l)
}

// pastSlowStart is true from the second round in a row that did not grow.
func (r *Rule) pastSlowStart() bool {
	n := len(r.all)
	if r.steady > 0 || n < flatRounds+leastRounds {
		return r.steady > 0
	}
	best := 0.0
	for _, before := range r.all[:n-flatRounds] {
		best = max(best, before.rate)
	}
	for _, flat := range r.all[n-flatRounds:] {
		if best == 0 || flat.rate > growth*best {
			return false
		}
	}
	r.steady = n - flatRounds
	return true
}

// known judges the latest half of the rounds after slow start, or more where
// that is too little to judge.
func (r *Rule) known(l Log) bool {
	rounds := r.judged(l)
	if rounds == nil {
		return false
	}
	from, mid, to := rounds[0].from, rounds[len(rounds)/2].from, rounds[len(rounds)-1].to
	mean, half := interval(rounds)
	first, second := l.Rate(from, mid), l.Rate(mid, to)
	return half <= r.within*mean && math.Abs(first-second) <= max(r.within, halvesDiffer)*second && r.named(l, rounds)
}

func (r *Rule) judged(l Log) []round {
	n := len(r.all)
	for m := max(leastRounds, (n-r.steady+1)/2); m <= n-r.steady; m++ {
		rounds := r.all[n-m:]
		from, to := &l[rounds[0].from], &l[rounds[m-1].to]
		if to.At-from.At >= leastSpan && to.Sent-from.Sent >= leastBytes {
			return rounds
		}
	}
	return nil
}

// Part is what was enough, in the log that was.
func (r *Rule) Part(l Log) Part {
	rounds := r.judged(l)
	return Part{From: rounds[0].from, To: rounds[len(rounds)-1].to, Over: true}
}

// named is whether it is clear what holds the flow: a rate alone, however
// steady, may be a moment of a window that grows or shrinks slowly.
func (r *Rule) named(l Log, rounds []round) bool {
	switch {
	case !r.lossBased || windowed(l, rounds) || r.starved(l, rounds):
		return true
	case l[rounds[len(rounds)-1].to].Repeated > l[rounds[0].from].Repeated:
		return even(rounds) && (queued(l, rounds) || lossy(rounds) >= enoughLosses)
	}
	return queued(l, rounds)
}

// queued: a queue stands before a link that is full.
func queued(l Log, rounds []round) bool {
	least := l[rounds[len(rounds)-1].to].MinRTT
	standing := 0
	for _, r := range rounds {
		if r.queue > max(1500*time.Microsecond, least*4/100) {
			standing++
		}
	}
	return 4*standing >= 3*len(rounds)
}

// windowed: a window or a buffer was full for over a tenth of the time.
func windowed(l Log, rounds []round) bool {
	from, to := &l[rounds[0].from], &l[rounds[len(rounds)-1].to]
	held := to.ReceiveWindowFor - from.ReceiveWindowFor + to.SendBufferFor - from.SendBufferFor
	return len(rounds) >= 6 && 10*held > to.At-from.At && even(rounds)
}

// starved: the application has nothing to send. What is less than a segment of
// each stream waits for the rest of it.
func (r *Rule) starved(l Log, rounds []round) bool {
	samples := l[rounds[0].from+1 : rounds[len(rounds)-1].to+1]
	idle := 0
	for _, s := range samples {
		if s.Unsent < r.segments {
			idle++
		}
	}
	return float64(idle) > idleSamples*float64(len(samples))
}

// lossy is how many rounds had losses to repair.
func lossy(rounds []round) (n int) {
	for _, r := range rounds {
		if r.repeated > 0 {
			n++
		}
	}
	return n
}

// even: the window of the second half is about that of the first.
func even(rounds []round) bool {
	early, late := 0.0, 0.0
	for i, r := range rounds {
		if i < len(rounds)/2 {
			early += r.window / float64(len(rounds)/2)
		} else {
			late += r.window / float64(len(rounds)-len(rounds)/2)
		}
	}
	return late < 1.1*early && early < 1.1*late
}

// Flags are those of a test with the rule: of the flags that its steady part
// has, what the rule knows better is left out, and the reason is added when the
// limits had to end the test.
func (r *Rule) Flags(l Log, flags []string, known bool) []string {
	flags = slices.DeleteFunc(flags, func(f string) bool { return f == FlagFewRounds })
	if known && r.lossUnseen(l) {
		return append(flags, FlagLossUnseen)
	}
	if known {
		return flags
	}
	flags = append(flags, FlagTimeCap)
	if r.lossRegulated(l) {
		flags = append(flags, FlagLossRegulated)
	}
	return flags
}

// lossUnseen: a loss ratio p shows in n packets if it shows at all with n p of 3
// or more (the rule of three: else there is none in one of twenty tests).
func (r *Rule) lossUnseen(l Log) bool {
	rounds := r.judged(l)
	if !r.lossBased || windowed(l, rounds) || r.starved(l, rounds) || lossy(rounds) >= enoughLosses {
		return false
	}
	from, to := &l[r.all[r.steady].from], &l[rounds[len(rounds)-1].to]
	mean, _ := interval(rounds)
	packets := float64(to.Sent-from.Sent) / float64(r.mss)
	return packets*harmfulLoss(mean*to.MinRTT.Seconds()/float64(r.mss), to.MinRTT) < 3
}

// harmfulLoss is the loss ratio at which CUBIC's mean window is so many packets:
// the larger of CUBIC's own, W = 1.054 (RTT/p)^(3/4), and of what it is in its
// TCP-friendly region, that of Reno, W = sqrt(3 / (2 p)) (RFC 9438, section 5.1).
func harmfulLoss(window float64, rtt time.Duration) float64 {
	window = max(window, 1)
	return max(rtt.Seconds()/math.Pow(window/1.054, 4.0/3), 1.5/(window*window))
}

func (r *Rule) lossRegulated(l Log) bool {
	if r.steady == 0 || !r.lossBased {
		return false
	}
	rounds := r.all[r.steady:]
	return !queued(l, rounds) && l[len(l)-1].Repeated > l[rounds[0].from].Repeated
}
