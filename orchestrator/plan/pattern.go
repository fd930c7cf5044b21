package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/antipode-bench/antipode"
)

// isPattern reports whether a name stands for any number of regions.
func isPattern(name string) bool {
	return strings.ContainsAny(name, "*?") || strings.Contains(name, "[") && strings.Contains(name, "]")
}

// matching are the regions of clouds whose id or bare name a pattern matches:
// "*" stands for any letters, "?" for one, "[ab]" for either. Other partitions
// than the commercial ones need accounts of their own: no pattern means them.
func matching(all []antipode.Region, flag, pattern string, clouds []string) ([]antipode.Region, error) {
	want := strings.ToLower(strings.TrimSpace(pattern))
	if _, err := path.Match(want, ""); err != nil {
		return nil, &WishError{flag, pattern, `not a pattern such as "aws:eu-*" or "us-?ast*"`}
	}
	var found []antipode.Region
	for _, r := range all {
		id, _ := path.Match(want, r.ID())
		name, _ := path.Match(want, r.Name)
		if (id || name) && r.Partition == "" && slices.Contains(clouds, r.Cloud) {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return nil, &WishError{flag, pattern, "matches no region of " + strings.Join(clouds, ", ")}
	}
	return found, nil
}

// onContinents grants --continents. A region that was named elsewhere is a
// contradiction.
func onContinents(all, regions []antipode.Region, w Wishes) ([]antipode.Region, error) {
	if len(w.Continents) == 0 {
		return regions, nil
	}
	var continents []string
	for _, name := range w.Continents {
		continent := strings.ToLower(strings.TrimSpace(name))
		if !slices.Contains(antipode.Continents(), continent) {
			return nil, &WishError{"--continents", name, "unknown continent; choose from " + strings.Join(antipode.Continents(), ", ")}
		}
		continents = append(continents, continent)
	}
	elsewhere := func(r antipode.Region) bool { return !slices.Contains(continents, r.Continent()) }
	if name := named(all, w, elsewhere); name != "" {
		return nil, &WishError{"--regions", name, "excluded by --continents " + strings.Join(continents, ",")}
	}
	return atLeastTwo(slices.DeleteFunc(regions, elsewhere), "--continents", w.Continents)
}

// without grants --exclude. To exclude what was named is a contradiction.
func without(all, regions []antipode.Region, w Wishes) ([]antipode.Region, error) {
	for _, name := range w.Exclude {
		var excluded []antipode.Region
		if isPattern(name) {
			found, err := matching(all, "--exclude", name, measurable(all))
			if err != nil {
				return nil, err
			}
			excluded = found
		} else {
			r, err := resolve(all, "--exclude", name)
			if err != nil {
				return nil, err
			}
			excluded = append(excluded, r)
		}
		is := func(r antipode.Region) bool { return slices.Contains(excluded, r) }
		if wanted := named(all, w, is); wanted != "" {
			return nil, &WishError{"--regions", wanted, "excluded by --exclude " + name}
		}
		regions = slices.DeleteFunc(regions, is)
	}
	if len(w.Exclude) == 0 {
		return regions, nil
	}
	return atLeastTwo(regions, "--exclude", w.Exclude)
}

// named is what --regions calls, by name and not by a pattern, a region that is
// one of which; empty if it names none.
func named(all []antipode.Region, w Wishes, which func(antipode.Region) bool) string {
	for _, name := range w.Regions {
		if r, err := resolve(all, "--regions", name); err == nil && which(r) {
			return name
		}
	}
	return ""
}

func atLeastTwo(regions []antipode.Region, flag string, values []string) ([]antipode.Region, error) {
	if len(regions) < 2 {
		return nil, &WishError{flag, strings.Join(values, ","), "leaves no two regions"}
	}
	return regions, nil
}

// oneWay keeps one direction of each two regions: such that each region sends in
// about as many as it receives in, and the schedule is half as long.
func oneWay(all []antipode.Region, pairs []Pair) []Pair {
	number, has := map[antipode.Region]int{}, map[Pair]bool{}
	for i, r := range regionsOf(all, pairs) {
		number[r] = i
	}
	for _, p := range pairs {
		has[p] = true
	}
	return slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool {
		from, to := number[p.From], number[p.To]
		odd := (from+to)%2 == 1
		return has[Pair{p.To, p.From}] && odd != (from < to)
	})
}
