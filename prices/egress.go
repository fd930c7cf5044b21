package prices

import (
	"fmt"
	"strings"

	"github.com/antipode-bench/antipode"
)

// StandardTier is Google Cloud's network tier over the public internet. All
// others, the empty one too, are its premium tier.
const StandardTier = "standard"

// Egress is the price of the bytes that a machine sends to another, as charged to
// the sender. Receiving is free on both clouds. tier is of the addresses of
// Google Cloud's machines.
func (t *Table) Egress(from, to antipode.Region, tier string) Price {
	switch {
	case from.Cloud == Own:
		return free
	case from.ID() == to.ID():
		return orDearest(t.within, from.Cloud, fmt.Sprintf("data within %s", from.ID()))
	case from.Cloud == "aws" && to.Cloud == "aws" && from.Partition == to.Partition:
		return t.betweenAWS(from, to)
	case from.Cloud == "aws":
		return orDearest(t.awsToInternet, from.Name, "data from "+from.ID()+" to the internet")
	case from.Cloud == "gcp" && to.Cloud == "gcp":
		return t.betweenGCP(from, to, tier)
	case from.Cloud == "gcp":
		return t.gcpToInternet(from, to, tier)
	}
	return unknown(dearer(dearest(t.awsToInternet, every), dearest(t.gcpPremium, every)), "data from %s", from.ID())
}

// betweenAWS goes by the sender, but for a few pairs.
func (t *Table) betweenAWS(from, to antipode.Region) Price {
	if p, ok := t.awsPairs[[2]string{from.Name, to.Name}]; ok {
		return p
	}
	return orDearest(t.awsToAWS, from.Name, "data from "+from.ID()+" to other regions")
}

// betweenGCP goes by the geographies of both ends. Whether the standard tier's
// traffic, which leaves Google's network, is charged as the internet's is not
// known: the dearer is counted.
func (t *Table) betweenGCP(from, to antipode.Region, tier string) Price {
	a, b := t.gcpPlace(from), t.gcpPlace(to)
	p := orDearest(t.gcpPairs, [2]string{a, b}, fmt.Sprintf("data from %s to %s", from.ID(), to.ID()))
	if tier == StandardTier {
		p = dearer(p, t.gcpToInternet(from, to, tier))
	}
	return p
}

func (t *Table) gcpToInternet(from, to antipode.Region, tier string) Price {
	premium := t.gcpPremium[gcpDestination(to)]
	if tier != StandardTier {
		return premium
	}
	if p, ok := t.gcpStandard[t.gcpPlace(from)]; ok {
		return p
	}
	return unknown(dearer(premium, dearest(t.gcpStandard, every)), "data from %s to the internet, standard tier", from.ID())
}

// Where Google Cloud's premium tier sends to.
const (
	world     = "world"
	australia = "australia"
	china     = "china" // without Hong Kong, whose country is HK
)

func gcpDestination(to antipode.Region) string {
	switch to.Country {
	case "AU":
		return australia
	case "CN":
		return china
	}
	return world
}

// gcpPlace is the geography of a region in Google Cloud's network prices, or
// empty.
func (t *Table) gcpPlace(r antipode.Region) string {
	longest := ""
	for prefix := range t.gcpPlaces {
		if strings.HasPrefix(r.Name, prefix) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	return t.gcpPlaces[longest]
}

// orDearest is the price under key, or the dearest there is for what has none.
func orDearest[K comparable](prices map[K]Price, key K, what string) Price {
	if p, ok := prices[key]; ok {
		return p
	}
	return unknown(dearest(prices, every), "%s", what)
}
