package orchestrator

import (
	"fmt"
	"strconv"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
)

// windDown is how long machines cost once nothing is measured any more: until
// connections are closed and the clouds have ended them. It is counted from the
// beginning, so that there is always money for it.
const windDown = 3 * time.Minute

// AroundTests is how long a batch's machines live besides its tests: launch,
// reaching, teardown.
const AroundTests = time.Minute + windDown

// fastestUnknown is what a machine sends at most, in bit/s, that nobody knows.
const fastestUnknown = 100e9

// BudgetError is why a run ended early: it could have cost more than it may.
type BudgetError struct{ BudgetUSD, UsedUSD float64 }

func (e *BudgetError) Error() string {
	return fmt.Sprintf("the budget of %s USD has no room for more: %s USD are used, and what comes next could take it over", dollars(e.BudgetUSD), dollars(e.UsedUSD))
}

// dollars writes small amounts too.
func dollars(usd float64) string {
	if usd >= 1 {
		return strconv.FormatFloat(usd, 'f', 2, 64)
	}
	return strconv.FormatFloat(usd, 'g', 3, 64)
}

// budget keeps a run from costing more than it may. Everything that starts is
// counted at the most it can cost until all is torn down. Only the measurement's
// loop touches it.
type budget struct {
	usd     float64 // 0: no limit
	ledger  *ledger
	cfg     Config
	running map[plan.Task]reserve
}

// reserve is put by for a test that runs.
type reserve struct {
	usd float64
	end time.Time // at the latest
}

func newBudget(cfg Config, l *ledger) *budget {
	return &budget{usd: cfg.BudgetUSD, ledger: l, cfg: cfg, running: map[plan.Task]reserve{}}
}

// admits reports whether a test may start, and puts by what it may cost.
func (b *budget) admits(task plan.Task, now time.Time) bool {
	if b.usd == 0 {
		return true
	}
	r := reserve{b.most(task), now.Add(b.lasts(task))}
	end := r.end
	for _, other := range b.running {
		if other.end.After(end) {
			end = other.end
		}
	}
	if b.by(now, end)+r.usd > b.usd {
		return false
	}
	b.running[task] = r
	return true
}

// over frees what a test did not use. What it used is in the ledger by then.
func (b *budget) over(task plan.Task) { delete(b.running, task) }

// by is what the run costs at most if no other test starts, and all is torn down
// when the last one has ended.
func (b *budget) by(now, end time.Time) float64 {
	usd := b.ledger.usd(now) + b.ledger.hourUSD()*(end.Sub(now)+windDown).Hours()
	for _, r := range b.running {
		usd += r.usd
	}
	return usd
}

// admitsMachines reports whether there is room to launch machines for pairs, and
// to measure the first of them.
func (b *budget) admitsMachines(pairs []plan.Pair, now time.Time) bool {
	if b.usd == 0 || len(pairs) == 0 {
		return true
	}
	hour := 0.0
	for _, r := range plan.RegionsOf(pairs) {
		hour += b.cfg.Rates.HourUSD(r, b.cfg.MachineTypes[r.Cloud])
	}
	first := plan.Task{Kind: plan.Throughput, From: pairs[0].From.ID(), To: pairs[0].To.ID()}
	return b.by(now, now)+hour*(AroundTests+b.lasts(first)).Hours()+b.most(first) <= b.usd
}

// lasts until the machines alone cost what is left; false if that does not end.
func (b *budget) lastsUntil(now time.Time) (time.Time, bool) {
	hour := b.ledger.hourUSD()
	if b.usd == 0 || hour == 0 {
		return time.Time{}, false
	}
	const most = 10_000 // hours, far more than machines live
	left := min((b.usd-b.by(now, now))/hour, most)
	return now.Add(time.Duration(left * float64(time.Hour))), true
}

func (b *budget) error(now time.Time) error { return &BudgetError{b.usd, b.ledger.usd(now)} }

// most is what a test's data can cost.
func (b *budget) most(task plan.Task) (usd float64) {
	for _, d := range directionsOf(task) {
		forth, back := b.cfg.mostBytes(task.Kind, d, 0)
		usd += b.ledger.price(d, forth) + b.ledger.price(direction{d.to, d.from}, back)
	}
	return usd
}

// lasts is a limit of how long a test takes: after it the agents are given up.
func (b *budget) lasts(task plan.Task) time.Duration {
	t := b.cfg.Test
	if task.Kind == plan.RTT {
		return time.Duration(t.RTTProbes)*t.RTTInterval + rttWait + 2*b.cfg.Limits.Slack
	}
	lasts := b.cfg.testLength() + 2*b.cfg.Limits.Slack
	if t.UDP.RateBps > 0 {
		lasts += t.UDP.Duration + 2*b.cfg.Limits.Slack
	}
	return lasts
}

// testLength is how long a throughput test sends at most.
func (c Config) testLength() time.Duration {
	if c.Test.Duration > 0 {
		return c.Test.Duration
	}
	return c.Limits.Bytes
}

// Of a test's bytes, what comes on top at most: headers, and what is sent again.
const (
	mostRepeats = 1.2
	mostHeaders = 1.05
	mostAcks    = 0.02
)

// mostBytes is what a test may send each way, in bytes of IP: as fast as the
// machine can for as long as it may, which is less if it took less. A limit of
// bytes leaves room for repeats.
func (c Config) mostBytes(kind plan.Kind, d direction, took time.Duration) (forth, back float64) {
	t := c.Test
	if kind == plan.RTT {
		bytes := float64(t.RTTProbes) * probeBytes
		return bytes, bytes
	}
	length := c.testLength()
	if took > 0 {
		length = min(length, took)
	}
	forth = c.fastest(d.from) / 8 * length.Seconds()
	if t.Bytes > 0 {
		forth = min(forth, float64(t.Bytes)*mostHeaders*mostRepeats)
	}
	if t.FlowCheck {
		forth *= 2
	}
	back = forth * mostAcks
	return forth + t.UDP.RateBps/8*t.UDP.Duration.Seconds()*mostHeaders, back
}

// fastest is what a region's machine sends at most, in bit/s with headers.
func (c Config) fastest(region string) float64 {
	if c.Fastest != nil {
		if bps := c.Fastest(region, c.machineType(region)); bps > 0 {
			return bps
		}
	}
	return fastestUnknown
}
