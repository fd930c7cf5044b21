package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/antipode-bench/antipode"
)

// measurable are the clouds machines can be launched in, and "hosts" if the
// user's own are among all. Regions of others are known for reports only.
func measurable(all []antipode.Region) []string {
	clouds := []string{"aws", "gcp"}
	if slices.ContainsFunc(all, func(r antipode.Region) bool { return r.Cloud == "hosts" }) {
		clouds = append(clouds, "hosts")
	}
	return clouds
}

// Select grants wishes: the regions that need a machine and the directed pairs
// between them, both in the order of all. Every returned region is in a pair.
// An error is a *WishError.
func Select(all []antipode.Region, w Wishes) ([]antipode.Region, []Pair, error) {
	if err := w.check(); err != nil {
		return nil, nil, err
	}
	pairs, err := explicitPairs(all, w.Pairs)
	if len(w.Pairs) > 0 && err == nil {
		pairs, err = w.missing(pairs)
	}
	if len(w.Pairs) == 0 && err == nil {
		pairs, err = selectPairs(all, w)
	}
	if err != nil {
		return nil, nil, err
	}
	return regionsOf(all, pairs), pairs, nil
}

// check finds wishes that contradict each other or themselves.
func (w Wishes) check() error {
	if len(w.Pairs) > 0 {
		if others := w.selecting(); len(others) > 0 {
			return &WishError{"--pairs", strings.Join(w.Pairs, ","), "names every pair, so it can't go with " + strings.Join(others, ", ")}
		}
	}
	for _, limit := range []struct {
		flag string
		km   float64
	}{{"--min-km", w.MinKm}, {"--max-km", w.MaxKm}} {
		if !(limit.km >= 0) || math.IsInf(limit.km, 0) {
			return &WishError{limit.flag, kilometres(limit.km), "not a distance in kilometres"}
		}
	}
	if w.MaxKm > 0 && w.MinKm > w.MaxKm {
		return &WishError{"--min-km", kilometres(w.MinKm), "above --max-km " + kilometres(w.MaxKm)}
	}
	if w.MaxRegions < 0 || w.MaxRegions == 1 {
		return &WishError{"--max-regions", strconv.Itoa(w.MaxRegions), "a pair needs two regions"}
	}
	return nil
}

// selecting names the flags in use that narrow a selection.
func (w Wishes) selecting() []string {
	var flags []string
	for _, f := range []struct {
		name string
		used bool
	}{
		{"--clouds", len(w.Clouds) > 0},
		{"--cloud-pairs", len(w.CloudPairs) > 0},
		{"--regions", len(w.Regions) > 0},
		{"--continents", len(w.Continents) > 0},
		{"--exclude", len(w.Exclude) > 0},
		{"--min-km", w.MinKm != 0},
		{"--max-km", w.MaxKm != 0},
		{"--max-regions", w.MaxRegions != 0},
		{"--one-way", w.OneWay},
	} {
		if f.used {
			flags = append(flags, f.name)
		}
	}
	return flags
}

// explicitPairs resolves --pairs in the order given, each once.
func explicitPairs(all []antipode.Region, names []string) ([]Pair, error) {
	var pairs []Pair
	for _, name := range names {
		from, to, ok := cutArrow(name)
		if !ok {
			return nil, &WishError{"--pairs", name, `not of the form "aws:us-east-1>gcp:us-east4"`}
		}
		a, err := resolve(all, "--pairs", from)
		if err != nil {
			return nil, err
		}
		b, err := resolve(all, "--pairs", to)
		if err != nil {
			return nil, err
		}
		if a == b {
			return nil, &WishError{"--pairs", name, "both ends are " + a.ID()}
		}
		if p := (Pair{a, b}); !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
	}
	return pairs, nil
}

// selectPairs narrows step by step, so that the step that leaves nothing can
// be named.
func selectPairs(all []antipode.Region, w Wishes) ([]Pair, error) {
	regions, err := selectRegions(all, w)
	if err != nil {
		return nil, err
	}
	pairs := allPairs(regions)
	for _, step := range pairFilters(w) {
		kept := slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool { return !step.keep(p) })
		if len(kept) == 0 {
			return nil, &WishError{step.flag, step.value, fmt.Sprintf("leaves none of %d pairs", len(pairs))}
		}
		pairs = kept
	}
	if w.OneWay && w.Had != nil { // the same ways each time
		pairs = oneWay(all, pairs)
	}
	if pairs, err = w.missing(pairs); err != nil {
		return nil, err
	}
	if w.MaxRegions > 0 {
		chosen := spread(w.needy(regionsOf(all, pairs), pairs), pairs, w.MaxRegions)
		pairs = slices.DeleteFunc(pairs, func(p Pair) bool {
			return !slices.Contains(chosen, p.From) || !slices.Contains(chosen, p.To)
		})
	}
	if w.OneWay {
		pairs = oneWay(all, pairs)
	}
	return pairs, nil
}

// ErrNoneMissing is a selection of which every pair was had.
var ErrNoneMissing = errors.New("every pair was measured already")

// missing leaves out the pairs that were had.
func (w Wishes) missing(pairs []Pair) ([]Pair, error) {
	if w.Had == nil {
		return pairs, nil
	}
	left := slices.DeleteFunc(slices.Clone(pairs), w.Had)
	if len(left) == 0 {
		return nil, ErrNoneMissing
	}
	return left, nil
}

// needy orders regions by how much is missing of them, the most first, so that
// small runs one after the other come to have all pairs.
func (w Wishes) needy(regions []antipode.Region, missing []Pair) []antipode.Region {
	if w.Had == nil {
		return regions
	}
	count := map[antipode.Region]int{}
	for _, p := range missing {
		count[p.From]++
		count[p.To]++
		if p.From.Cloud != p.To.Cloud { // between clouds goes first
			count[p.From]++
			count[p.To]++
		}
	}
	return slices.SortedStableFunc(slices.Values(regions), func(a, b antipode.Region) int { return cmp.Compare(count[b], count[a]) })
}

type pairFilter struct {
	flag, value string
	keep        func(Pair) bool
}

func pairFilters(w Wishes) []pairFilter {
	var filters []pairFilter
	if len(w.CloudPairs) > 0 {
		filters = append(filters, pairFilter{"--cloud-pairs", join(w.CloudPairs), func(p Pair) bool {
			return slices.Contains(w.CloudPairs, CloudPair{p.From.Cloud, p.To.Cloud})
		}})
	}
	if w.MinKm > 0 {
		filters = append(filters, pairFilter{"--min-km", kilometres(w.MinKm), func(p Pair) bool {
			return antipode.DistanceKm(p.From, p.To) >= w.MinKm
		}})
	}
	if w.MaxKm > 0 {
		filters = append(filters, pairFilter{"--max-km", kilometres(w.MaxKm), func(p Pair) bool {
			return antipode.DistanceKm(p.From, p.To) <= w.MaxKm
		}})
	}
	return filters
}

// allPairs are the directed pairs of different regions.
func allPairs(regions []antipode.Region) []Pair {
	var pairs []Pair
	for _, from := range regions {
		for _, to := range regions {
			if from != to {
				pairs = append(pairs, Pair{from, to})
			}
		}
	}
	return pairs
}

// regionsOf are the regions in pairs, in the order of all.
func regionsOf(all []antipode.Region, pairs []Pair) []antipode.Region {
	used := map[antipode.Region]bool{}
	for _, p := range pairs {
		used[p.From], used[p.To] = true, true
	}
	return slices.DeleteFunc(slices.Clone(all), func(r antipode.Region) bool { return !used[r] })
}

func kilometres(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func join[T fmt.Stringer](list []T) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = x.String()
	}
	return strings.Join(words, ",")
}
