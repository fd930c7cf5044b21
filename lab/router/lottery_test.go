package router

import (
	"math"
	"testing"
)

// drawn plays n segments, in pieces as the router cuts them, and returns how
// many were drawn and in how many rows.
func drawn(l lottery, n int) (hits, rows int) {
	row := false
	for n > 0 {
		if l.hit() {
			hits++
			if !row {
				rows++
			}
			row = true
			n--
			continue
		}
		row = false
		piece := min(n, l.until, 40)
		l.pass(piece)
		n -= piece
	}
	return hits, rows
}

func TestLotteryDrawsItsShare(t *testing.T) {
	for name, c := range map[string]struct{ ratio, burst, row float64 }{
		"independent": {0.02, 0, 1 / (1 - 0.02)},
		"often":       {0.3, 1, 1 / (1 - 0.3)},
		"in bursts":   {0.02, 5, 5},
	} {
		const n = 1_000_000
		hits, rows := drawn(newLottery(c.ratio, c.burst), n)
		// 4000 rows at least: 10 % are six standard deviations.
		if got := float64(hits) / n; math.Abs(got/c.ratio-1) > 0.1 {
			t.Errorf("%s: %v of the segments drawn, want %v", name, got, c.ratio)
		}
		if got := float64(hits) / float64(rows); math.Abs(got/c.row-1) > 0.1 {
			t.Errorf("%s: %v in a row, want %v", name, got, c.row)
		}
	}
}

func TestLotteryKnowsNoneAndAll(t *testing.T) {
	if hits, _ := drawn(newLottery(0, 3), 10_000); hits != 0 {
		t.Errorf("ratio 0 drew %d", hits)
	}
	if hits, _ := drawn(newLottery(1, 1), 10_000); hits != 10_000 {
		t.Errorf("ratio 1 drew %d of 10000", hits)
	}
}
