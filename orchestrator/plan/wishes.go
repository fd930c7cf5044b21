package plan

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/antipode-bench/antipode"
)

// Wishes say which pairs to measure. The zero value wishes for every directed
// pair of the commercial regions of AWS and Google Cloud. Region names are ids
// ("aws:us-east-1") or bare names that only one cloud has.
type Wishes struct {
	Clouds     []string    // --clouds: regions of these clouds only
	CloudPairs []CloudPair // --cloud-pairs: these directions only
	Regions    []string    // --regions: these only, of any partition; or patterns, "aws:eu-*", of the commercial ones
	Continents []string    // --continents: regions there only
	Exclude    []string    // --exclude: without these, names or patterns
	Pairs      []string    // --pairs: exactly these, "aws:us-east-1>gcp:us-east4"; excludes all other wishes
	MinKm      float64     // --min-km: great-circle distance of a pair, kilometres
	MaxKm      float64     // --max-km: likewise; 0 for no limit
	MaxRegions int         // --max-regions: a spread over the globe; 0 for no limit
	OneWay     bool        // --one-way: of each two regions one direction only

	Had func(Pair) bool // --into: pairs that need not be measured, whatever else is wished; nil: none
}

// CloudPair is a direction between clouds, or within one.
type CloudPair struct{ From, To string }

func (c CloudPair) String() string { return c.From + ">" + c.To }

// ParseCloudPair reads "aws>gcp".
func ParseCloudPair(s string) (CloudPair, error) {
	from, to, ok := cutArrow(s)
	if !ok {
		return CloudPair{}, &WishError{"--cloud-pairs", s, `not of the form "aws>gcp"`}
	}
	return CloudPair{strings.ToLower(from), strings.ToLower(to)}, nil
}

// Pair is one direction between two different regions.
type Pair struct{ From, To antipode.Region }

func (p Pair) String() string { return p.From.ID() + ">" + p.To.ID() }

// RegionsOf are the ends of pairs, in order of appearance.
func RegionsOf(pairs []Pair) []antipode.Region {
	var regions []antipode.Region
	seen := map[antipode.Region]bool{}
	for _, p := range pairs {
		for _, r := range []antipode.Region{p.From, p.To} {
			if !seen[r] {
				seen[r] = true
				regions = append(regions, r)
			}
		}
	}
	return regions
}

// ParsePair undoes String, with regions by id.
func ParsePair(s string, regions map[string]antipode.Region) (Pair, error) {
	from, to, _ := cutArrow(s)
	p := Pair{regions[from], regions[to]}
	if p.From.Name == "" || p.To.Name == "" {
		return p, fmt.Errorf("pair %q: not of two known regions", s)
	}
	return p, nil
}

// WishError is a wish that can't be granted: which flag, which value, and why.
type WishError struct{ Flag, Value, Reason string }

func (e *WishError) Error() string {
	return fmt.Sprintf("%s %s: %s", e.Flag, shown(e.Value), e.Reason)
}

// shown is a value as a message may repeat it: in quotes where it could not be
// seen without, and not without end.
func shown(value string) string {
	const most = 80
	if runes := []rune(value); len(runes) > most {
		value = string(runes[:most]) + "…"
	}
	if strings.TrimSpace(value) == "" || !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(value)
	}
	return value
}

// cutArrow splits "a>b"; ok is false unless there are exactly two names.
func cutArrow(s string) (from, to string, ok bool) {
	from, to, ok = strings.Cut(s, ">")
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	return from, to, ok && from != "" && to != "" && !strings.Contains(to, ">")
}
