package plan

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/antipode-bench/antipode"
	"github.com/google/go-cmp/cmp"
)

func TestSelectDefault(t *testing.T) {
	regions, pairs, err := Select(antipode.Regions(), Wishes{})
	if err != nil {
		t.Fatal(err)
	}
	if len(regions) != 77 || len(pairs) != 5852 {
		t.Errorf("Select = %d regions, %d pairs; want 77, 5852", len(regions), len(pairs))
	}
	for _, r := range regions {
		if r.Cloud == "azure" || r.Partition != "" {
			t.Errorf("%s is in the default selection", r.ID())
		}
	}
}

func TestSelect(t *testing.T) {
	for _, tt := range []struct {
		name    string
		wishes  Wishes
		regions string
		pairs   int
	}{
		{"named", Wishes{Regions: []string{"us-east4", " AWS:us-east-1", "us-east-1"}}, "aws:us-east-1 gcp:us-east4", 2},
		{"another partition by name", Wishes{Regions: []string{"cn-north-1", "us-gov-west-1"}}, "aws:us-gov-west-1 aws:cn-north-1", 2},
		{"by a pattern", Wishes{Regions: []string{"aws:us-*"}}, "aws:us-east-1 aws:us-east-2 aws:us-west-1 aws:us-west-2", 12},
		{"patterns and a name", Wishes{Regions: []string{"us-?ast-[12]", "europe-north*", "us-gov-west-1"}},
			"aws:us-east-1 aws:us-east-2 aws:us-gov-west-1 gcp:europe-north1 gcp:europe-north2", 20},
		{"a pattern of one cloud", Wishes{Regions: []string{"*-south*"}, Clouds: []string{"aws"}, Exclude: []string{"ap-south*"}}, "aws:eu-south-1 aws:eu-south-2 aws:af-south-1 aws:me-south-1", 12},
		{"a continent", Wishes{Continents: []string{" South-America"}}, "aws:sa-east-1 gcp:southamerica-east1 gcp:southamerica-west1", 6},
		{"continents, and a region", Wishes{Continents: []string{"africa", "south-america"}, Regions: []string{"*-east*", "af-south-1"}},
			"aws:sa-east-1 aws:af-south-1 gcp:southamerica-east1", 6},
		{"all but", Wishes{Continents: []string{"south-america"}, Exclude: []string{"sa-east-1"}}, "gcp:southamerica-east1 gcp:southamerica-west1", 2},
		{"one way", Wishes{Continents: []string{"africa", "south-america"}, OneWay: true}, "aws:sa-east-1 aws:af-south-1 gcp:southamerica-east1 gcp:southamerica-west1 gcp:africa-south1", 10},
		{"one way between clouds", Wishes{Continents: []string{"south-america"}, CloudPairs: []CloudPair{{"gcp", "aws"}}, OneWay: true},
			"aws:sa-east-1 gcp:southamerica-east1 gcp:southamerica-west1", 2},
		{"pairs", Wishes{Pairs: []string{"us-east4>eu-west-1", "aws:eu-west-1 > gcp:us-east4", "us-east4>eu-west-1"}}, "aws:eu-west-1 gcp:us-east4", 2},
		{"one direction", Wishes{Regions: []string{"us-east-1", "us-east4", "us-west1"}, CloudPairs: []CloudPair{{"aws", "gcp"}}}, "aws:us-east-1 gcp:us-east4 gcp:us-west1", 2},
		{"near", Wishes{Regions: []string{"us-east-1", "us-east4", "ap-southeast-2"}, MaxKm: 10}, "aws:us-east-1 gcp:us-east4", 2},
		{"far", Wishes{Regions: []string{"us-east-1", "us-east4", "ap-southeast-2"}, MinKm: 10}, "aws:us-east-1 aws:ap-southeast-2 gcp:us-east4", 4},
		{"one cloud", Wishes{Clouds: []string{"GCP"}, MaxRegions: 2}, "gcp:us-central1 gcp:asia-southeast2", 2},
		{"spread over near ones", Wishes{MaxKm: 300, MaxRegions: 4}, "", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			regions, pairs, err := Select(antipode.Regions(), tt.wishes)
			if err != nil {
				t.Fatal(err)
			}
			if got := ids(regions); tt.regions != "" && got != tt.regions {
				t.Errorf("regions %s, want %s", got, tt.regions)
			}
			if len(pairs) != tt.pairs {
				t.Errorf("%d pairs, want %d: %v", len(pairs), tt.pairs, pairs)
			}
		})
	}
}

func TestSelectSpreads(t *testing.T) {
	regions, pairs, err := Select(antipode.Regions(), Wishes{MaxRegions: 6})
	if err != nil {
		t.Fatal(err)
	}
	clouds, continents := map[string]int{}, map[string]bool{}
	for _, r := range regions {
		clouds[r.Cloud]++
		continents[r.Continent()] = true
		if r.OptIn {
			t.Errorf("%s has to be asked for", r.ID())
		}
	}
	if diff := cmp.Diff(map[string]int{"aws": 3, "gcp": 3}, clouds); diff != "" {
		t.Errorf("clouds (-want +got):\n%s", diff)
	}
	if len(continents) < 4 || len(pairs) != 30 {
		t.Errorf("%d continents, %d pairs; want 4 or more, 30: %s", len(continents), len(pairs), ids(regions))
	}
	again, _, _ := Select(antipode.Regions(), Wishes{MaxRegions: 6})
	if !slices.Equal(regions, again) {
		t.Errorf("another time %s, before %s", ids(again), ids(regions))
	}
}

// TestOneWay: of every two regions one direction, and everyone sends in about as
// many as it receives in.
func TestOneWay(t *testing.T) {
	_, both, err := Select(antipode.Regions(), Wishes{})
	if err != nil {
		t.Fatal(err)
	}
	_, pairs, err := Select(antipode.Regions(), Wishes{OneWay: true})
	if err != nil || 2*len(pairs) != len(both) {
		t.Fatalf("%d of %d pairs, %v", len(pairs), len(both), err)
	}
	seen, balance := map[Pair]bool{}, map[antipode.Region]int{}
	for _, p := range pairs {
		if seen[Pair{p.To, p.From}] {
			t.Errorf("%s both ways", p)
		}
		seen[p] = true
		balance[p.From]++
		balance[p.To]--
	}
	for r, n := range balance {
		if n < -1 || n > 1 {
			t.Errorf("%s sends in %d more than it receives in", r.ID(), n)
		}
	}
}

func TestSelectErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		wishes Wishes
		want   string
	}{
		{"unknown region", Wishes{Regions: []string{"us-esat-1", "us-east4"}}, "--regions us-esat-1: unknown region; the nearest name is aws:us-east-1"},
		{"unknown id", Wishes{Regions: []string{"gcp:us-east-1"}}, "--regions gcp:us-east-1: unknown region; the nearest name is gcp:us-east1"},
		{"unknown region of a pair", Wishes{Pairs: []string{"us-east-1>us-eats4"}}, "--pairs us-eats4: unknown region; the nearest name is gcp:us-east4"},
		{"no name", Wishes{Regions: []string{" ", "us-east4"}}, `--regions " ": unknown region; the nearest name is gcp:us-east1`},
		{"not to be seen", Wishes{Regions: []string{"\x1b[2J", "us-east4"}}, `--regions "\x1b[2J": unknown region; the nearest name is gcp:us-east1`},
		{"not UTF-8", Wishes{Clouds: []string{"\xff"}}, `--clouds "\xff": no machine can be launched in cloud "�"; choose from aws, gcp`},
		{"without end", Wishes{Pairs: []string{strings.Repeat("ü", 1000)}}, "--pairs " + strings.Repeat("ü", 80) + `…: not of the form "aws:us-east-1>gcp:us-east4"`},
		{"near to where nothing can be launched", Wishes{Regions: []string{"eastus3", "us-east4"}}, "--regions eastus3: unknown region; the nearest name is aws:us-east-1"},
		{"one region", Wishes{Regions: []string{"us-east-1", "aws:us-east-1"}}, "--regions us-east-1,aws:us-east-1: a pair needs two regions"},
		{"no launch there", Wishes{Regions: []string{"westeurope", "us-east-1"}}, `--regions westeurope: no machine can be launched in cloud "azure"; choose from aws, gcp`},
		{"unknown cloud", Wishes{Clouds: []string{"asw"}}, `--clouds asw: no machine can be launched in cloud "asw"; choose from aws, gcp`},
		{"unknown cloud of a pair", Wishes{CloudPairs: []CloudPair{{"aws", "gpc"}}}, `--cloud-pairs aws>gpc: no machine can be launched in cloud "gpc"; choose from aws, gcp`},
		{"excluded cloud pair", Wishes{Clouds: []string{"aws"}, CloudPairs: []CloudPair{{"aws", "gcp"}}}, "--cloud-pairs aws>gcp: excluded by --clouds aws"},
		{"excluded region", Wishes{Clouds: []string{"aws"}, Regions: []string{"us-east4"}}, "--regions us-east4: excluded by --clouds aws"},
		{"malformed pair", Wishes{Pairs: []string{"us-east-1"}}, `--pairs us-east-1: not of the form "aws:us-east-1>gcp:us-east4"`},
		{"three in a pair", Wishes{Pairs: []string{"us-east-1>us-east4>us-west1"}}, `--pairs us-east-1>us-east4>us-west1: not of the form "aws:us-east-1>gcp:us-east4"`},
		{"one region in a pair", Wishes{Pairs: []string{"us-east-1>aws:us-east-1"}}, "--pairs us-east-1>aws:us-east-1: both ends are aws:us-east-1"},
		{"pairs and more", Wishes{Pairs: []string{"a>b"}, Clouds: []string{"aws"}, MaxRegions: 2}, "--pairs a>b: names every pair, so it can't go with --clouds, --max-regions"},
		{"min above max", Wishes{MinKm: 2000, MaxKm: 1000.5}, "--min-km 2000: above --max-km 1000.5"},
		{"negative", Wishes{MinKm: -1}, "--min-km -1: not a distance in kilometres"},
		{"not a number", Wishes{MaxKm: math.NaN()}, "--max-km NaN: not a distance in kilometres"},
		{"unknown continent", Wishes{Continents: []string{"antarctica"}}, "--continents antarctica: unknown continent; choose from africa, asia, europe, north-america, south-america, oceania"},
		{"region elsewhere", Wishes{Continents: []string{"asia"}, Regions: []string{"us-*", "us-east-1"}}, "--regions us-east-1: excluded by --continents asia"},
		{"lonely continent", Wishes{Continents: []string{"africa"}, Clouds: []string{"aws"}}, "--continents africa: leaves no two regions"},
		{"no such pattern", Wishes{Regions: []string{"us-[*"}}, `--regions us-[*: not a pattern such as "aws:eu-*" or "us-?ast*"`},
		{"matches nothing", Wishes{Regions: []string{"gcp:eu-*"}}, "--regions gcp:eu-*: matches no region of aws, gcp"},
		{"partition by a pattern", Wishes{Regions: []string{"us-gov-*"}}, "--regions us-gov-*: matches no region of aws, gcp"},
		{"matches another cloud", Wishes{Regions: []string{"europe-*"}, Clouds: []string{"aws"}}, "--regions europe-*: matches no region of aws"},
		{"unknown exclusion", Wishes{Exclude: []string{"us-esat-1"}}, "--exclude us-esat-1: unknown region; the nearest name is aws:us-east-1"},
		{"exclusion of nothing", Wishes{Exclude: []string{"moon-*"}}, "--exclude moon-*: matches no region of aws, gcp"},
		{"exclusion of what is named", Wishes{Regions: []string{"us-east-1", "us-*"}, Exclude: []string{"us-east*"}}, "--regions us-east-1: excluded by --exclude us-east*"},
		{"exclusion of all", Wishes{Exclude: []string{"aws:*", "gcp:*"}}, "--exclude aws:*,gcp:*: leaves no two regions"},
		{"pairs and one way", Wishes{Pairs: []string{"a>b"}, Exclude: []string{"c"}, Continents: []string{"asia"}, OneWay: true},
			"--pairs a>b: names every pair, so it can't go with --continents, --exclude, --one-way"},
		{"one at most", Wishes{MaxRegions: 1}, "--max-regions 1: a pair needs two regions"},
		{"nothing so far", Wishes{MinKm: 20020}, "--min-km 20020: leaves none of 5852 pairs"},
		{"nothing so near", Wishes{Regions: []string{"us-east-1", "us-east4"}, CloudPairs: []CloudPair{{"gcp", "gcp"}}}, "--cloud-pairs gcp>gcp: leaves none of 2 pairs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			regions, pairs, err := Select(antipode.Regions(), tt.wishes)
			var wish *WishError
			if !errors.As(err, &wish) || err.Error() != tt.want {
				t.Errorf("Select = %d regions, %d pairs, %v\nwant %s", len(regions), len(pairs), err, tt.want)
			}
		})
	}
}

// The user's own hosts are regions like others, except that nobody may know
// where they stand.
func TestSelectHosts(t *testing.T) {
	all := append(antipode.Regions(), antipode.Region{Cloud: "hosts", Name: "attic", Unplaced: true},
		antipode.Region{Cloud: "hosts", Name: "cellar", Latitude: 50.1, Longitude: 8.7})
	for _, tt := range []struct {
		name    string
		wishes  Wishes
		regions string
		pairs   int
	}{
		{"alone", Wishes{Clouds: []string{"hosts"}}, "hosts:attic hosts:cellar", 2},
		{"with a cloud's", Wishes{Regions: []string{"attic", "hosts:cellar", "aws:eu-central-1"}}, "aws:eu-central-1 hosts:attic hosts:cellar", 6},
		{"by direction", Wishes{Regions: []string{"attic", "cellar", "us-east-1"}, CloudPairs: []CloudPair{{"hosts", "aws"}}}, "aws:us-east-1 hosts:attic hosts:cellar", 2},
		{"near, for all one knows", Wishes{Regions: []string{"attic", "cellar", "eu-central-1"}, MaxKm: 100}, "aws:eu-central-1 hosts:cellar", 2},
		{"the unplaced last", Wishes{Regions: []string{"attic", "cellar", "us-east-1"}, MaxRegions: 2}, "aws:us-east-1 hosts:cellar", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			regions, pairs, err := Select(all, tt.wishes)
			if err != nil || ids(regions) != tt.regions || len(pairs) != tt.pairs {
				t.Errorf("Select = %s, %d pairs, %v; want %s, %d", ids(regions), len(pairs), err, tt.regions, tt.pairs)
			}
		})
	}
}

func TestSelectAmbiguous(t *testing.T) {
	all := []antipode.Region{{Cloud: "aws", Name: "moon"}, {Cloud: "gcp", Name: "moon"}}
	_, _, err := Select(all, Wishes{Regions: []string{"moon"}})
	if want := "--regions moon: means both aws:moon and gcp:moon"; err == nil || err.Error() != want {
		t.Errorf("Select = %v, want %s", err, want)
	}
}

func TestParseCloudPair(t *testing.T) {
	for in, want := range map[string]CloudPair{"aws>gcp": {"aws", "gcp"}, " AWS > aws": {"aws", "aws"}} {
		if got, err := ParseCloudPair(in); err != nil || got != want {
			t.Errorf("ParseCloudPair(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "aws", "aws>", ">gcp", "aws>gcp>aws"} {
		if got, err := ParseCloudPair(in); err == nil {
			t.Errorf("ParseCloudPair(%q) = %v, want an error", in, got)
		}
	}
}

func ids(regions []antipode.Region) string {
	var names []string
	for _, r := range regions {
		names = append(names, r.ID())
	}
	return strings.Join(names, " ")
}

// FuzzSelect holds that no name is a panic, and every refusal names its flag.
func FuzzSelect(f *testing.F) {
	f.Add("aws:us-east-1>gcp:us-east4")
	f.Add("us-east-1 > ")
	f.Add(">>")
	f.Add(":")
	all := antipode.Regions()
	f.Fuzz(func(t *testing.T, name string) {
		for _, w := range []Wishes{{Pairs: []string{name}}, {Regions: []string{name, "us-east-1"}}, {Clouds: []string{name}}} {
			_, pairs, err := Select(all, w)
			var wish *WishError
			if err != nil && !errors.As(err, &wish) || err == nil && len(pairs) == 0 {
				t.Errorf("Select = %d pairs, %v", len(pairs), err)
			}
		}
	})
}

// TestSelectMissing: small runs one after the other come to have every pair, each
// measured once, those between clouds sooner.
func TestSelectMissing(t *testing.T) {
	for name, w := range map[string]Wishes{
		"six of twenty": {Regions: twenty(), MaxRegions: 6},
		"one way":       {Regions: twenty(), MaxRegions: 6, OneWay: true},
		"all at once":   {Regions: twenty()},
		"across only":   {Regions: twenty(), MaxRegions: 5, CloudPairs: []CloudPair{{"aws", "gcp"}}},
		"pairs by name": {Pairs: []string{"us-east-1>us-east4", "us-east4>us-east-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			whole := w
			whole.MaxRegions = 0
			_, want, err := Select(antipode.Regions(), whole)
			if err != nil {
				t.Fatal(err)
			}
			had := map[Pair]bool{}
			w.Had = func(p Pair) bool { return had[p] }
			runs := 0
			for ; ; runs++ {
				regions, pairs, err := Select(antipode.Regions(), w)
				if errors.Is(err, ErrNoneMissing) {
					break
				}
				if err != nil || len(pairs) == 0 || w.MaxRegions > 0 && len(regions) > w.MaxRegions || runs > 100 {
					t.Fatalf("run %d: %d pairs of %d regions, %v", runs, len(pairs), len(regions), err)
				}
				for _, p := range pairs {
					if had[p] {
						t.Errorf("%s is measured twice", p)
					}
					had[p] = true
				}
			}
			if len(had) != len(want) {
				t.Errorf("%d pairs in %d runs, want %d", len(had), runs, len(want))
			}
			t.Logf("%d pairs in %d runs", len(had), runs)
		})
	}
}

// twenty regions, ten of each cloud.
func twenty() (names []string) {
	count := map[string]int{}
	for _, r := range antipode.Regions() {
		if (r.Cloud == "aws" || r.Cloud == "gcp") && r.Partition == "" && count[r.Cloud] < 10 {
			count[r.Cloud]++
			names = append(names, r.ID())
		}
	}
	return names
}
