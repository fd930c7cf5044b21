package plan

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/antipode-bench/antipode"
)

// field are the regions of clouds, as many as named: field("gcp", 43, "aws", 34).
func field(sizes ...any) []antipode.Region {
	var regions []antipode.Region
	for i := 0; i < len(sizes); i += 2 {
		for n := range sizes[i+1].(int) {
			regions = append(regions, antipode.Region{Cloud: sizes[i].(string), Name: fmt.Sprint("r", n)})
		}
	}
	return regions
}

func everyPair(regions []antipode.Region, want func(Pair) bool) []Pair {
	var pairs []Pair
	for _, from := range regions {
		for _, to := range regions {
			if p := (Pair{from, to}); from != to && want(p) {
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

// checkCover: every pair is in exactly one batch or alone, no batch is empty,
// and none has more regions of a cloud than may be.
func checkCover(t *testing.T, pairs []Pair, atOnce map[string]int, batches [][]Pair, alone []Pair) {
	t.Helper()
	times := map[Pair]int{}
	for _, p := range alone {
		times[p]++
		same := p.From.Cloud == p.To.Cloud
		from, limitedFrom := atOnce[p.From.Cloud]
		to, limitedTo := atOnce[p.To.Cloud]
		all, limitedAll := atOnce[AllClouds]
		if !(limitedAll && all < 2) && !(limitedFrom && from < 1) && !(limitedTo && to < 1) && !(same && limitedFrom && from < 2) {
			t.Errorf("%s is alone, though a batch could hold it", p)
		}
	}
	for i, batch := range batches {
		count, seen := map[string]int{}, map[antipode.Region]bool{}
		for _, p := range batch {
			times[p]++
			for _, r := range []antipode.Region{p.From, p.To} {
				if !seen[r] {
					seen[r] = true
					count[r.Cloud]++
					count[AllClouds]++
				}
			}
		}
		if len(batch) == 0 || over(count, atOnce) {
			t.Errorf("batch %d has %d pairs and the regions %v", i, len(batch), count)
		}
	}
	for _, p := range pairs {
		if times[p] != 1 {
			t.Errorf("%s is there %d times", p, times[p])
		}
	}
	if len(times) != len(pairs) {
		t.Errorf("%d pairs of %d", len(times), len(pairs))
	}
}

// TestBatches holds how many batches there are: at least as many as counting
// proves (Schönheim 1964), and no more than were seen.
func TestBatches(t *testing.T) {
	all := func(Pair) bool { return true }
	for name, tt := range map[string]struct {
		regions   []antipode.Region
		want      func(Pair) bool
		atOnce    map[string]int
		least     int
		most      int
		leftAlone int
	}{
		"room for all":        {field("gcp", 6, "aws", 6), all, map[string]int{"gcp": 6}, 1, 1, 0},
		"no limit":            {field("gcp", 6), all, nil, 1, 1, 0},
		"one too many":        {field("gcp", 5), all, map[string]int{"gcp": 4}, 3, 3, 0},
		"halves":              {field("gcp", 8), all, map[string]int{"gcp": 4}, 6, 6, 0},
		"two at a time":       {field("gcp", 6), all, map[string]int{"gcp": 2}, 15, 15, 0},
		"all of Google Cloud": {field("gcp", 43), all, map[string]int{"gcp": 12}, 15, 20, 0},
		"with AWS":            {field("aws", 34, "gcp", 43), all, map[string]int{"gcp": 12}, 15, 20, 0},
		"across only":         {field("aws", 34, "gcp", 43), func(p Pair) bool { return p.From.Cloud != p.To.Cloud }, map[string]int{"gcp": 12}, 4, 4, 0},
		"one at a time":       {field("aws", 2, "gcp", 3), func(p Pair) bool { return p.From.Cloud != p.To.Cloud }, map[string]int{"gcp": 1}, 3, 3, 0},
		"one, and its own":    {field("aws", 2, "gcp", 3), all, map[string]int{"gcp": 1}, 3, 3, 6},
		"none":                {field("aws", 2, "gcp", 2), all, map[string]int{"gcp": 0}, 1, 1, 10},
		"both limited":        {field("aws", 6, "gcp", 6), all, map[string]int{"gcp": 4, "aws": 4}, 3, 6, 0},
	} {
		t.Run(name, func(t *testing.T) {
			pairs := everyPair(tt.regions, tt.want)
			batches, alone := Batches(pairs, tt.atOnce)
			checkCover(t, pairs, tt.atOnce, batches, alone)
			if n := len(batches); n < tt.least || n > tt.most || len(alone) != tt.leftAlone {
				t.Errorf("%d batches, want %d to %d; %d pairs alone, want %d", n, tt.least, tt.most, len(alone), tt.leftAlone)
			}
			t.Logf("%d batches, %d machines", len(batches), Machines(batches))
		})
	}
}

// TestBatchesOfAnything: the promises hold for any pairs and any limits.
func TestBatchesOfAnything(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		regions := field("aws", rng.IntN(7), "gcp", rng.IntN(9), "hosts", rng.IntN(3))
		share := rng.Float64()
		pairs := everyPair(regions, func(Pair) bool { return rng.Float64() < share })
		atOnce := map[string]int{}
		for _, cloud := range []string{"aws", "gcp", AllClouds} {
			if rng.IntN(3) > 0 {
				atOnce[cloud] = rng.IntN(8)
			}
		}
		before := slices.Clone(pairs)
		batches, alone := Batches(pairs, atOnce)
		checkCover(t, before, atOnce, batches, alone)
		if !slices.Equal(before, pairs) {
			t.Error("Batches changed its argument")
		}
		if t.Failed() {
			t.Fatalf("seed %d: %d regions, %d pairs, %v", seed, len(regions), len(pairs), atOnce)
		}
	}
}

// TestAtMost: of any batches the largest are kept, each pair is in one of them or
// left, none is left that both regions of are in one, and no batch gets a region.
func TestAtMost(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		share := rng.Float64()
		pairs := everyPair(field("aws", 1+rng.IntN(7), "gcp", 1+rng.IntN(9)), func(Pair) bool { return rng.Float64() < share })
		batches, _ := Batches(pairs, map[string]int{AllClouds: 2 + rng.IntN(6)})
		n := rng.IntN(len(batches) + 2)
		kept, left := AtMost(batches, n)
		if want := len(batches); n > 0 && len(kept) != min(n, want) || n == 0 && len(kept) != want {
			t.Fatalf("seed %d: %d of %d batches, want %d", seed, len(kept), want, n)
		}
		times := map[Pair]int{}
		for _, p := range left {
			times[p]++
		}
		regions := 0
		for _, batch := range kept {
			regions = max(regions, len(RegionsOf(batch)))
			for _, p := range batch {
				times[p]++
			}
			for _, p := range left {
				if in := RegionsOf(batch); slices.Contains(in, p.From) && slices.Contains(in, p.To) {
					t.Errorf("seed %d: %s is left, though both regions are in a batch", seed, p)
				}
			}
		}
		all := 0
		for _, batch := range batches {
			all += len(batch)
		}
		if len(times) != all || len(left) > 0 && slices.Max(slices.Collect(maps.Values(times))) > 1 {
			t.Errorf("seed %d: %d pairs of %d, of which some twice", seed, len(times), all)
		}
		if len(batches) > 0 && regions > max(2, most(batches)) {
			t.Errorf("seed %d: a batch of %d regions", seed, regions)
		}
	}
}

// most is how many regions the largest batch has.
func most(batches [][]Pair) (n int) {
	for _, batch := range batches {
		n = max(n, len(RegionsOf(batch)))
	}
	return n
}
