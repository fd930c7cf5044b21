package providers

import (
	"context"
	"net/netip"
	"time"
)

// Run identifies one run: what everything it makes is marked with.
type Run struct {
	ID      string    // sorts by time, [a-z0-9-], at most MaxRunID characters
	Expires time.Time // when every machine of the run ends itself

	// Tags are the user's own, put beside ours on everything that can carry
	// some. Each cloud has rules for them: see its CheckTags.
	Tags map[string]string
}

// Spec is what a run wants of one machine.
type Spec struct {
	Run           Run
	Region        string
	MachineType   string
	OtherTypes    []string   // tried in their order where no zone has room for MachineType
	Spot          bool       // at the spot price: the cloud may take it away at any time
	NetworkTier   string     // PremiumTier or StandardTier where the cloud has such; empty: premium
	Network       string     // on EC2, the id of a VPC or a subnet of the user's; empty: the region's default VPC, or where it was deleted one of the run's own
	IPv6          bool       // with an IPv6 address of the internet too; a region that has none is an error of kind Skip
	Zones         []string   // the only ones to use, best first; empty: all of the region
	AuthorizedKey string     // the run's public key, one authorized_keys line
	HostKeyPEM    []byte     // OpenSSH private host key, for clouds that can inject one (EC2)
	HostKey       string     // its public half, one authorized_keys line
	SSHFrom       netip.Addr // the only address that may reach port 22
	Instead       *Machine   // end this one, if it is still there, and make another, in another zone if one has room; may be nil
	Adopt         bool       // an earlier process may have made it: look for it, in every zone, first
}

// Machine is one running machine. Cells a cloud does not tell are empty.
type Machine struct {
	Cloud, Region, Zone string
	ID, Type, Image     string
	Public, Private     netip.Addr // Public is the address the world reaches, with SSH too: IPv4, unless a lent machine has none
	IPv6                netip.Addr `json:",omitzero"` // that the world reaches; not valid where nobody asked for one
	User                string     // the login that AuthorizedKey was given
	HostKey             string     // public host key to pin, known before the first connection; a line each if several
	SSHPort             int        `json:",omitempty"` // 0 means 22
	ProbePort           int        `json:",omitempty"` // where its agent listens; 0 means the run's
	Spot                bool       `json:",omitempty"` // the cloud may take it away at any time
	Lent                bool       `json:",omitempty"` // there before the run and after it, with keys and rules of its own
}

// Resource is anything of a run that exists in a cloud.
type Resource struct {
	Cloud, Region string // Region is empty for what is global
	Zone          string // empty for what is not in one
	Kind          string // one of the constants, for example Instance
	ID, RunID     string
	State         string    // the cloud's own word, for example "running"; empty where it has none
	Expires       time.Time // zero when unknown
}

// Kinds of resources, the same words for every cloud.
const (
	Instance      = "instance"
	Disk          = "disk"
	KeyPair       = "key-pair"
	SecurityGroup = "security-group"
	FirewallRule  = "firewall-rule"
	Subnet        = "subnet"
	Network       = "network"

	PlacementGroup  = "placement-group"
	RouteTable      = "route-table"
	InternetGateway = "internet-gateway"
)

// Provider makes, admits, lists and destroys the machines of runs in one cloud.
// All methods are safe for concurrent use, and every call inside them has a
// time limit of its own: a silent endpoint is an *Error, never a hang.
type Provider interface {
	// Cloud is "aws" or "gcp", or "hosts" for machines that are already there.
	Cloud() string

	// Launch makes one machine in spec.Region with all it needs (key, network,
	// the rule that lets spec.SSHFrom in) and returns once it has an address and
	// a known host key. SSH may not answer yet. Called again it returns the same
	// machine, and leaves SSH open to spec.SSHFrom only. On an error it returns what it
	// made so far (ID set if there is an instance), for the message only:
	// Destroy goes by tag.
	Launch(ctx context.Context, spec Spec) (Machine, error)

	// Admit lets the given peers, and nobody else, reach probePort (TCP and UDP)
	// of the run's machine in region. Called again it adds peers and takes none
	// away.
	Admit(ctx context.Context, run Run, region string, probePort int, peers []netip.Addr) error

	// List returns everything the run left in regions, including what is
	// global; an empty runID means every run. An error means "unknown", even
	// when resources are returned too.
	List(ctx context.Context, runID string, regions []string) ([]Resource, error)

	// Destroy removes everything of the run in regions and what is global, and
	// returns when it is gone. It goes by tag or name, is safe to call
	// twice, at once or for a run that never was, and goes on past errors,
	// which it joins. An empty runID is refused.
	Destroy(ctx context.Context, runID string, regions []string) error
}
