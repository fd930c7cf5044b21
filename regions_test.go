package antipode

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRegionsAreAllThere(t *testing.T) {
	got := make(map[string]int)
	for _, r := range Regions() {
		key := r.Cloud
		if r.Partition != "" {
			key = r.Partition
		}
		got[key]++
	}
	want := map[string]int{"aws": 34, "aws-us-gov": 2, "aws-cn": 2, "aws-eusc": 1, "gcp": 43, "azure": 61}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("regions per cloud or partition (-want +got):\n%s", diff)
	}
}

func TestRegionsBelongToTheCaller(t *testing.T) {
	first := Regions()
	first[0].Name = "changed"
	if got := Regions()[0].Name; got == "changed" {
		t.Error("a caller's change shows in the next caller's regions")
	}
}

func TestFind(t *testing.T) {
	r, ok := Find(Regions(), "gcp:europe-north1")
	if !ok || r.Place != "Hamina" {
		t.Errorf("Find(gcp:europe-north1) = %+v, %v", r, ok)
	}
	if r, ok := Find(Regions(), "aws:europe-north1"); ok {
		t.Errorf("Find(aws:europe-north1) = %+v, want none", r)
	}
}

func TestSplitID(t *testing.T) {
	for id, want := range map[string]bool{"aws:us-east-1": true, "aws": false, "aws:": false, ":x": false, "": false} {
		cloud, name, ok := SplitID(id)
		if ok != want {
			t.Errorf("SplitID(%q) ok = %v, want %v", id, ok, want)
		}
		if ok && (Region{Cloud: cloud, Name: name}).ID() != id {
			t.Errorf("SplitID(%q) = %q, %q", id, cloud, name)
		}
	}
}

func TestContinent(t *testing.T) {
	for id, want := range map[string]string{
		"aws:af-south-1": "africa", "aws:ap-south-1": "asia", "aws:me-central-1": "asia",
		"aws:eu-west-2": "europe", "azure:norwayeast": "europe", "aws:mx-central-1": "north-america",
		"gcp:southamerica-west1": "south-america", "aws:ap-southeast-6": "oceania",
	} {
		r, ok := Find(Regions(), id)
		if got := r.Continent(); !ok || got != want {
			t.Errorf("%s: Continent = %q, want %q", id, got, want)
		}
	}
	if got := (Region{Country: "XX"}).Continent(); got != "" {
		t.Errorf("Continent of an unknown country = %q", got)
	}
}

func TestEveryCountryHasOneContinent(t *testing.T) {
	for _, r := range Regions() {
		if !slices.Contains(Continents(), r.Continent()) {
			t.Errorf("%s: country %q has no continent", r.ID(), r.Country)
		}
	}
	seen := make(map[string]string)
	for _, continent := range Continents() {
		for _, c := range countries(continent) {
			if len(c) != 2 || seen[c] != "" {
				t.Errorf("%q is in %s and %q", c, continent, seen[c])
			}
			seen[c] = continent
		}
	}
	if len(seen) != 248 {
		t.Errorf("%d countries, want 248", len(seen))
	}
}
