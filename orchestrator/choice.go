package orchestrator

import (
	"cmp"
	"net/netip"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/providers"
)

// Which addresses of each other machines measure towards.
const (
	PathPublic  = "public"
	PathPrivate = "private" // where both are in a network of their cloud's
)

// Choice is what a run wishes of the clouds besides machine types. The zero
// value leaves everything to the clouds and to Antipode.
type Choice struct {
	// OtherTypes are tried in their order, by cloud, where no zone has room for
	// the cloud's machine type.
	OtherTypes map[string][]string `json:"other_machine_types,omitempty"`
	// Zones are the only ones to use of a region, by its id, best first.
	Zones map[string][]string `json:"zones,omitempty"`

	// Networks are VPCs and subnets of the user's own, by region id, where the
	// default VPC is not to be used or was deleted.
	Networks map[string]string `json:"networks,omitempty"`
	// NetworkTier is of Google Cloud's external addresses; empty: premium.
	NetworkTier string `json:"network_tier,omitempty"`
	// Path is PathPublic or PathPrivate; empty: public.
	Path string `json:"path,omitempty"`
	// Spot machines cost less and may be taken away at any time.
	Spot bool              `json:"spot,omitempty"`
	Tags map[string]string `json:"tags,omitempty"` // extra ones, on everything that can carry them
}

// address is where a machine's peers reach it.
func (c Choice) address(m providers.Machine) netip.Addr {
	if c.Path == PathPrivate {
		return m.Private
	}
	return m.Public
}

// path is what a row says of the addresses.
func (c Choice) path() string { return cmp.Or(c.Path, PathPublic) }

// tier is Google Cloud's: the tier of an external address governs both what it
// sends and what it is sent. Other clouds have none, nor have private paths.
func (c Choice) tier(p plan.Pair) string {
	if c.Path == PathPrivate || p.From.Cloud != "gcp" && p.To.Cloud != "gcp" {
		return ""
	}
	return cmp.Or(c.NetworkTier, providers.PremiumTier)
}

// Bars says why the pair's ends have no such path between them; empty if
// they have. The networks of Google Cloud are global; those of AWS end at their
// region, and no network spans clouds.
func (c Choice) Bars(p plan.Pair) (why string) {
	switch {
	case c.Path != PathPrivate || p.From.Cloud == "gcp" && p.To.Cloud == "gcp":
		return ""
	case p.From.Cloud != p.To.Cloud:
		return "no private path: no network spans clouds"
	case p.From.Cloud == "aws":
		return "no private path: a network of AWS ends at its region"
	}
	return "no private path is known"
}
