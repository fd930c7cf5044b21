package orchestrator

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strconv"

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

	// Networks are VPCs and subnets of the user's own, by region id, where neither
	// the default VPC is to be used nor one made for the run.
	Networks map[string]string `json:"networks,omitempty"`
	// NetworkTier is of Google Cloud's external addresses; empty: premium.
	NetworkTier string `json:"network_tier,omitempty"`
	// IP is the version that is measured over, 4 or 6; 0 means 4. What the
	// controller says to its machines goes over IPv4 all the same, where they have it.
	IP int `json:"ip,omitempty"`
	// Path is PathPublic or PathPrivate; empty: public.
	Path string `json:"path,omitempty"`
	// Spot machines cost less and may be taken away at any time.
	Spot bool              `json:"spot,omitempty"`
	Tags map[string]string `json:"tags,omitempty"` // extra ones, on everything that can carry them
}

// ipv6 reports whether IPv6 is measured.
func (c Choice) ipv6() bool { return c.IP == 6 }

func (c Choice) check() error {
	switch {
	case c.IP != 0 && c.IP != 4 && c.IP != 6:
		return fmt.Errorf("version %d of IP: not 4 or 6", c.IP)
	case c.ipv6() && c.Path == PathPrivate:
		return errors.New("private paths have no IPv6")
	}
	return nil
}

// address is where a machine's peers reach it; not valid if they don't.
func (c Choice) address(m providers.Machine) netip.Addr {
	switch {
	case c.ipv6():
		return m.IPv6
	case c.Path == PathPrivate:
		return m.Private
	case m.Public.Is6():
		return netip.Addr{}
	}
	return m.Public
}

// version is what a row says of them.
func (c Choice) version() string { return strconv.Itoa(cmp.Or(c.IP, 4)) }

// addressed is the error of a machine that its peers can't reach.
func (c Choice) addressed(m providers.Machine) error {
	if c.address(m).IsValid() {
		return nil
	}
	return &providers.Error{Op: "check addresses", Cloud: m.Cloud, Region: m.Region, Kind: providers.Skip,
		Err: fmt.Errorf("the machine has no %s IPv%s address", c.path(), c.version())}
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
