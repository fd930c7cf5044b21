package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/results"
)

// zoneWishes is a flag's zones per region, best first:
// "aws:us-east-1=us-east-1b,us-east-1c". The cloud may be left out.
type zoneWishes struct{ preferences }

func (z zoneWishes) Set(s string) error {
	named, err := parsePreferences(s, func(region, zone string) error {
		switch {
		case region == "":
			return errors.New("not of the form aws:us-east-1=us-east-1b")
		case !results.IsName(zone) || !strings.HasPrefix(zone, region[strings.IndexByte(region, ':')+1:]):
			return fmt.Errorf("%q is no zone of %s: want its whole name, such as us-east-1b or us-east1-c", zone, region)
		}
		return nil
	})
	for region, zones := range named {
		z.preferences[region] = append(z.preferences[region], zones...)
	}
	return err
}

func (z zoneWishes) Type() string { return "REGION=ZONE" }

// byRegion gives what a flag prefers by the ids of regions.
func byRegion(flag string, p preferences, regions []antipode.Region) (map[string][]string, error) {
	byID := map[string][]string{}
	for name, values := range p {
		named := slices.DeleteFunc(slices.Clone(regions), func(r antipode.Region) bool { return r.ID() != name && r.Name != name })
		switch len(named) {
		case 0:
			return nil, usageError("--%s: %s is not a region of this sweep", flag, name)
		case 1:
			byID[named[0].ID()] = append(byID[named[0].ID()], values...)
		default:
			return nil, usageError("--%s: %s may be %s or %s", flag, name, named[0].ID(), named[1].ID())
		}
	}
	return byID, nil
}
