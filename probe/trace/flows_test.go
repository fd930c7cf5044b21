package trace

import (
	"strings"
	"testing"
	"time"
)

func TestFlowRule(t *testing.T) {
	const alone = 5e6
	ms := time.Millisecond
	capped := func(full float64) func(time.Duration) float64 { return slowStart(20*ms, full) }
	for name, tt := range map[string]struct {
		rate     func(time.Duration) float64
		want     string
		evidence string
		known    bool
	}{
		"twice as much":  {capped(2 * alone), LimitFlowCap, "two flows brought 1.", true},
		"no more":        {capped(alone), LimitRateCap, "no more than 1.00 times", true},
		"a little more":  {capped(1.1 * alone), LimitRateCap, "no more than 1.10 times", true},
		"never there":    {capped(alone / 3), LimitRateCap, "too little to tell", false},
		"nothing at all": {func(time.Duration) float64 { return 0 }, LimitRateCap, "reached 0.00 times", false},
		"one round's burst": {func(at time.Duration) float64 {
			if at > 300*ms && at <= 330*ms {
				return 3 * alone
			}
			return min(alone, capped(alone)(at))
		}, LimitRateCap, "no more than 1.00 times", true},
	} {
		t.Run(name, func(t *testing.T) {
			l := simulate(2*time.Second, 20*ms, tt.rate)
			r, known := NewFlowRule(alone), false
			for i := 1; i <= len(l) && !known; i++ {
				known = r.Enough(l[:i])
			}
			got := r.Refine(Limit{LimitRateCap, "queue"})
			if got.By != tt.want || known != tt.known || !strings.Contains(got.Evidence, tt.evidence) || !strings.Contains(got.Evidence, "queue") {
				t.Errorf("%+v, known %v; want %s, %v: %s", got, known, tt.want, tt.known, tt.evidence)
			}
		})
	}
	if NewFlowRule(0).Enough(simulate(time.Second, 20*ms, capped(alone))) {
		t.Error("nothing alone, and yet it knows")
	}
}
