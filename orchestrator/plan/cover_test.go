package plan

import (
	"fmt"
	"slices"
	"testing"
)

// schoenheim is what counting proves that blocks of size k need to have any two
// of v regions meet: ceil(v/k * ceil((v-1)/(k-1))) (Schönheim 1964).
func schoenheim(v, k int) int {
	each := (v - 1 + k - 2) / (k - 1)
	return (v*each + k - 1) / k
}

// TestBatchSize holds the number of batches to one and a half times the bound.
func TestBatchSize(t *testing.T) {
	all := func(Pair) bool { return true }
	if got := schoenheim(46, 10); got != 23 {
		t.Fatalf("the bound of 46 regions by 10 is %d, want 23", got)
	}
	for _, tt := range [][2]int{
		{3, 2}, {6, 3}, {9, 5}, {12, 8}, {16, 6}, {20, 10}, {25, 7}, {30, 12}, {34, 6}, {40, 20}, {43, 12}, {45, 10},
		{46, 8}, {46, 10}, {46, 12}, {46, 23}, {46, 45}, {52, 10}, {60, 12}, {77, 10}, {77, 12}, {77, 20}, {77, 40}, {77, 76},
	} {
		v, k := tt[0], tt[1]
		t.Run(fmt.Sprint(v, " by ", k), func(t *testing.T) {
			pairs := everyPair(field("aws", v/2, "gcp", v-v/2), all)
			atOnce := map[string]int{AllClouds: k}
			batches, alone := Batches(pairs, atOnce)
			checkCover(t, pairs, atOnce, batches, alone)
			bound := schoenheim(v, k)
			t.Logf("%d batches, bound %d, %d machines", len(batches), bound, Machines(batches))
			if n := len(batches); n < bound || 2*n > 3*bound {
				t.Errorf("%d batches, want %d to %d", n, bound, 3*bound/2)
			}
		})
	}
}

// TestDesigns: any two groups are in a line together, in planes in exactly one.
func TestDesigns(t *testing.T) {
	families := designs(200)
	for _, d := range slices.Concat(families[0], families[1]) {
		meet := map[[2]int]int{}
		for _, line := range d.lines {
			for _, a := range line {
				for _, b := range line {
					if a < b {
						meet[[2]int{a, b}]++
					}
				}
			}
			if slices.Max(line) >= d.groups || slices.Min(line) < 0 {
				t.Fatalf("a line of %d groups is %v", d.groups, line)
			}
		}
		if n := d.groups * (d.groups - 1) / 2; len(meet) != n {
			t.Errorf("%d groups: %d couples meet, want %d", d.groups, len(meet), n)
		}
		for couple, n := range meet {
			if n != 1 {
				t.Errorf("%d groups: %v meet %d times", d.groups, couple, n)
			}
		}
	}
}

func BenchmarkBatches77by10(b *testing.B) {
	pairs := everyPair(field("aws", 34, "gcp", 43), func(Pair) bool { return true })
	for b.Loop() {
		Batches(pairs, map[string]int{AllClouds: 10})
	}
}
