package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode"
)

func TestZoneWishes(t *testing.T) {
	regions := []antipode.Region{{Cloud: "aws", Name: "us-east-1"}, {Cloud: "gcp", Name: "us-east4"}, {Cloud: "aws", Name: "twin"}, {Cloud: "gcp", Name: "twin"}}
	z := zoneWishes{preferences{}}
	for _, text := range []string{"aws:us-east-1=us-east-1b,us-east-1a,gcp:us-east4=us-east4-c", "us-east-1=us-east-1d"} {
		if err := z.Set(text); err != nil {
			t.Errorf("Set(%q): %v", text, err)
		}
	}
	got, err := byRegion("zone", z.preferences, regions[:2])
	want := map[string][]string{"gcp:us-east4": {"us-east4-c"}}
	if len(got["aws:us-east-1"]) != 3 {
		t.Errorf("zones of us-east-1: %v", got["aws:us-east-1"])
	}
	delete(got, "aws:us-east-1")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("of = %v (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"", "us-east-1b", "=us-east-1b", "us-east-1=", "us-east-1=us-west-2b", "aws:us-east-1=b", "us-east-1=us-east-1b,us-east-1b"} {
		if err := (zoneWishes{preferences{}}).Set(text); err == nil {
			t.Errorf("Set(%q) succeeded", text)
		}
	}
	for _, name := range []string{"us-west-2", "twin"} {
		if _, err := byRegion("zone", preferences{name: {"a"}}, regions); exitCode(err) != exitUsage {
			t.Errorf("%s: %v, want wrong usage", name, err)
		}
	}
}
