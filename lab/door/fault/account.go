package fault

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Allowance is how much of something the account may have at a time, where it is
// not what the door allows anyway.
type Allowance struct {
	Place `yaml:",inline"`
	Quota string `yaml:"quota"` // as the cloud spells it: "L-1216C47A", "CPUS", "CPUS_ALL_REGIONS", "IN_USE_ADDRESSES"
	Limit int    `yaml:"limit"`
}

// What the doors count.
const (
	StandardVCPUs  = "L-1216C47A"       // AWS, of a region: vCPUs of on-demand machines of the ordinary families
	VPCs           = "L-F678F1CE"       // AWS, of a region: virtual networks
	AllCPUs        = "CPUS_ALL_REGIONS" // Google Cloud, of the project
	RegionCPUs     = "CPUS"             // Google Cloud, of a region; newer families have one of their own, "N2_CPUS"
	InUseAddresses = "IN_USE_ADDRESSES" // Google Cloud, of a region: external ones
)

var quotas = []string{StandardVCPUs, VPCs, RegionCPUs, AllCPUs, InUseAddresses}

var familyCPUs = regexp.MustCompile(`^[A-Z][0-9][A-Z]?_CPUS$`)

func (a Allowance) validate() error {
	switch {
	case a.Limit < 0:
		return fmt.Errorf("limit is %d, want 0 or more", a.Limit)
	case a.Zone != "":
		return fmt.Errorf("zone %q: quotas are of regions or of all of them", a.Zone)
	case a.Quota == AllCPUs && a.Region != "":
		return fmt.Errorf("%s is of all regions", a.Quota)
	case !slices.Contains(quotas, a.Quota) && !familyCPUs.MatchString(a.Quota):
		return fmt.Errorf("unknown quota %q, want %s or a family's such as N2_CPUS", a.Quota, strings.Join(quotas, ", "))
	}
	return a.Place.validate(0)
}

// Project is what is peculiar about the Google Cloud project.
type Project struct {
	APIDisabled bool              `yaml:"api_disabled,omitempty"` // Compute Engine's
	Metadata    map[string]string `yaml:"metadata,omitempty"`     // of all its machines that don't say otherwise
	Policies    []string          `yaml:"policies,omitempty"`     // of its organisation, enforced: "compute.requireOsLogin"
	NoDefault   bool              `yaml:"no_default_network,omitempty"`
	Networks    []Network         `yaml:"networks,omitempty"`
}

// The organisation policies that the door enforces.
const (
	NoExternalAddress = "compute.vmExternalIpAccess"
	RequireOSLogin    = "compute.requireOsLogin"
	NoGuestAttributes = "compute.disableGuestAttributesAccess"
)

var policies = []string{NoExternalAddress, RequireOSLogin, NoGuestAttributes}

func (p Project) validate() error {
	for _, name := range p.Policies {
		if !slices.Contains(policies, name) {
			return fmt.Errorf("unknown policy %q, want one of %s", name, strings.Join(policies, ", "))
		}
	}
	return p.validateNetworks()
}

// Limit is how much the account may have of a quota at a place; usual unless
// the file says otherwise.
func (i *Injector) Limit(at Place, quota string, usual int) int {
	for _, a := range i.faults.Quotas {
		if a.Quota == quota && a.matches(at) {
			return a.Limit
		}
	}
	return usual
}

// Forbids says whether an organisation policy is enforced.
func (i *Injector) Forbids(policy string) bool {
	return slices.Contains(i.faults.Project.Policies, policy)
}

// APIDisabled says whether the project has not enabled Compute Engine.
func (i *Injector) APIDisabled() bool { return i.faults.Project.APIDisabled }

// Metadata is what the project tells all its machines.
func (i *Injector) Metadata() map[string]string { return maps.Clone(i.faults.Project.Metadata) }

// Denies says whether a call of a cloud is refused for want of permission
// wherever and whenever it is made.
func (i *Injector) Denies(cloud, call string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return !i.lifted && slices.ContainsFunc(i.faults.Calls, func(c Call) bool {
		return c.Kind == Denied && c.Count == 0 && (c.Place == Place{} || c.Place == Place{Cloud: cloud}) && (c.Call == "" || c.Call == call)
	})
}
