package main

import (
	"errors"
	"maps"
	"regexp"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/providers/aws"
)

// networkWishes is a flag's VPC or subnet for each AWS region:
// "us-east-1=vpc-0123456789abcdef0,eu-west-1=subnet-0123456789abcdef0".
type networkWishes struct{ preferences }

var networkID = regexp.MustCompile(`^(vpc|subnet)-[0-9a-f]{8,17}$`)

func (n networkWishes) Set(s string) error {
	named, err := parsePreferences(s, func(region, id string) error {
		if region == "" || !networkID.MatchString(id) {
			return errors.New("not of the form us-east-1=vpc-0123456789abcdef0, nor with a subnet")
		}
		return nil
	})
	maps.Copy(n.preferences, named)
	return err
}

func (n networkWishes) Type() string { return "REGION=ID" }

// of gives the networks by the ids of regions.
func (n networkWishes) of(regions []antipode.Region) (map[string]string, error) {
	named, err := byRegion("network", n.preferences, regions)
	networks := map[string]string{}
	for id, list := range named {
		if cloud, _, _ := antipode.SplitID(id); cloud != aws.Cloud || len(list) > 1 {
			return nil, usageError("--network: %s takes one VPC or subnet of AWS; Google Cloud's networks are made for the run", id)
		}
		networks[id] = list[0]
	}
	return networks, err
}
