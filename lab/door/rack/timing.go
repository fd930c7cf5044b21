package rack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Range is a span of durations to draw from, both ends included.
type Range struct{ Min, Max time.Duration }

// Timing says how slow the clouds are.
type Timing struct {
	Boot      Range         // from the start of a machine to its first sign of life
	Visible   Range         // from a create to the first read that finds it (EC2)
	Operation Range         // how long an operation takes beside its work (GCE)
	Linger    time.Duration // how long an ended instance is still shown (EC2)
	Seed      uint64        // of all draws and ids
}

// DefaultTiming is that of a brisk cloud.
func DefaultTiming() Timing {
	return Timing{
		Boot:      Range{300 * time.Millisecond, 800 * time.Millisecond},
		Visible:   Range{100 * time.Millisecond, 300 * time.Millisecond},
		Operation: Range{20 * time.Millisecond, 60 * time.Millisecond},
		Linger:    time.Hour,
		Seed:      1,
	}
}

// Validate refuses spans that are negative or the wrong way round.
func (t Timing) Validate() error {
	for name, r := range map[string]Range{"boot": t.Boot, "visible": t.Visible, "operation": t.Operation} {
		if r.Min < 0 || r.Max < r.Min {
			return fmt.Errorf("%s time from %v to %v is no span", name, r.Min, r.Max)
		}
	}
	if t.Linger < 0 {
		return errors.New("linger time is negative")
	}
	return nil
}

// Dice draws durations and ids. Safe for concurrent use.
type Dice struct {
	mu  sync.Mutex
	rnd *rand.Rand
}

// NewDice returns dice that fall the same way for the same seed.
func NewDice(seed uint64) *Dice {
	return &Dice{rnd: rand.New(rand.NewPCG(seed, 0))}
}

// Duration draws from r.
func (d *Dice) Duration(r Range) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return r.Min + time.Duration(d.rnd.Int64N(int64(r.Max-r.Min)+1))
}

// Uint64 draws a number that is not drawn twice but by a miracle.
func (d *Dice) Uint64() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rnd.Uint64()
}
