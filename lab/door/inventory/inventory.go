// Package inventory is the list of everything that exists behind the lab's
// doors, as the lab itself sees it: complete and without delay, unlike what the
// clouds' own list calls answer. The doors fill it, people and tests read it.
package inventory

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// Kinds of items. The words are those of the providers.
const (
	Instance        = "instance"
	Disk            = "disk"
	KeyPair         = "key-pair"
	Group           = "security-group"
	PlacementGroup  = "placement-group"
	FirewallRule    = "firewall-rule"
	Network         = "network"
	Subnetwork      = "subnetwork"
	InternetGateway = "internet-gateway"
	RouteTable      = "route-table"
)

// Item is one thing that exists. What the cloud itself put into every account
// (default networks, their groups and rules) is not listed.
type Item struct {
	Cloud    string            `json:"cloud"`
	Region   string            `json:"region,omitempty"` // empty for what is global
	Zone     string            `json:"zone,omitempty"`
	Kind     string            `json:"kind"`
	ID       string            `json:"id"`
	Name     string            `json:"name,omitempty"`
	State    string            `json:"state,omitempty"` // the cloud's own word
	Type     string            `json:"type,omitempty"`  // machine type
	Public   netip.Addr        `json:"public,omitzero"`
	Private  netip.Addr        `json:"private,omitzero"`
	Tags     map[string]string `json:"tags,omitempty"` // or labels
	Created  time.Time         `json:"created"`
	Warnings []string          `json:"warnings,omitempty"` // what a real cloud would have disliked without saying so
}

// List is everything, ordered by cloud, region, kind and id.
type List []Item

// Sort brings the list into its promised order.
func (l List) Sort() {
	slices.SortFunc(l, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Cloud, b.Cloud), cmp.Compare(a.Region, b.Region),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
}

// Alive returns what still costs money or blocks something: everything but
// instances that have ended and are only still shown.
func (l List) Alive() List {
	return slices.DeleteFunc(slices.Clone(l), func(i Item) bool {
		return i.Kind == Instance && i.Cloud == "aws" && i.State == "terminated"
	})
}
