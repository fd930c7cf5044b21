package main

import (
	"errors"
	"maps"
	"regexp"
	"slices"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/providers/aws"
	"github.com/antipode-bench/antipode/providers/gcp"
)

// networkWishes are a flag's networks: a VPC or a subnet for each AWS region, and
// one network for all of Google Cloud, with the subnet to take where a region has
// several: "us-east-1=vpc-0123456789abcdef0,gcp=lan,gcp:us-east4=lan/east".
type networkWishes struct{ preferences }

var networkID = regexp.MustCompile(`^(vpc|subnet)-[0-9a-f]{8,17}$`)

func (n networkWishes) Set(s string) error {
	named, err := parsePreferences(s, func(place, network string) error {
		_, err := gcp.ParseNetwork(network)
		if place == "" || !networkID.MatchString(network) && err != nil {
			return errors.New("not of the form us-east-1=vpc-0123456789abcdef0, nor gcp=NETWORK, nor with a subnet")
		}
		return nil
	})
	maps.Copy(n.preferences, named)
	return err
}

func (n networkWishes) Type() string { return "PLACE=NETWORK" }

// of gives the networks by the ids of regions.
func (n networkWishes) of(regions []antipode.Region) (map[string]string, error) {
	ofRegions := maps.Clone(n.preferences)
	networks := map[string]string{}
	for _, cloud := range []string{aws.Cloud, gcp.Cloud} {
		wish, wished := n.preferences[cloud]
		if !wished {
			continue
		}
		delete(ofRegions, cloud)
		all := slices.DeleteFunc(slices.Clone(regions), func(r antipode.Region) bool { return r.Cloud != cloud })
		switch {
		case len(all) == 0:
			return nil, usageError("--network: no region of this sweep is in %s", cloud)
		case cloud == aws.Cloud && len(all) > 1:
			return nil, usageError("--network: a VPC is of one region: say of which, as in %s=%s", all[0].ID(), wish[0])
		}
		for _, r := range all {
			networks[r.ID()] = wish[0]
		}
	}
	named, err := byRegion("network", ofRegions, regions)
	for id, list := range named {
		networks[id] = list[0]
	}
	return networks, errors.Join(err, n.once(), checkNetworks(networks, regions))
}

// once finds places that several networks are named for.
func (n networkWishes) once() error {
	for place, list := range n.preferences {
		if len(list) > 1 {
			return usageError("--network: %s takes one network, not %s and %s", place, list[0], list[1])
		}
	}
	return nil
}

// checkNetworks finds networks of the wrong cloud, and regions of Google Cloud that are
// left out of a network or in another one: a run has one there.
func checkNetworks(networks map[string]string, regions []antipode.Region) error {
	var one *gcp.Network
	for id, network := range networks {
		if cloud, _, _ := antipode.SplitID(id); cloud != gcp.Cloud {
			if cloud != aws.Cloud || !networkID.MatchString(network) {
				return usageError("--network: %s takes the id of a VPC or a subnet, not %s", id, network)
			}
			continue
		}
		n, err := gcp.ParseNetwork(network)
		if err == nil && networkID.MatchString(network) {
			err = errors.New("an id of AWS, not the name of a network")
		}
		if err != nil {
			return usageError("--network: %s: %s is %w", id, network, err)
		}
		n.Subnet = ""
		if one != nil && *one != n {
			return usageError("--network: Google Cloud's regions are in one network, not in %s and %s", one.Name, n.Name)
		}
		one = &n
	}
	for _, r := range regions {
		if one != nil && r.Cloud == gcp.Cloud && networks[r.ID()] == "" {
			return usageError("--network: Google Cloud's regions are in one network, and %s has none: name it for all with gcp=%s", r.ID(), one.Name)
		}
	}
	return nil
}
