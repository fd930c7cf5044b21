package fault

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// Network is one that a Google Cloud project has beside the default one.
type Network struct {
	Name    string              `yaml:"name"`
	Host    string              `yaml:"host,omitempty"`    // the project that shares it with ours; empty: it is our own
	Auto    bool                `yaml:"auto,omitempty"`    // auto mode: with a subnetwork in every region
	Subnets map[string][]string `yaml:"subnets,omitempty"` // custom mode: names of subnetworks, by region
}

var (
	resourceName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
	projectName  = regexp.MustCompile(`^[a-z][-a-z0-9]{4,28}[a-z0-9]$`)
)

func (n Network) validate() error {
	switch {
	case !resourceName.MatchString(n.Name):
		return fmt.Errorf("network %q: not a name", n.Name)
	case n.Host != "" && !projectName.MatchString(n.Host):
		return fmt.Errorf("network %s: host %q is not a project", n.Name, n.Host)
	case n.Auto && len(n.Subnets) > 0:
		return fmt.Errorf("network %s: auto mode makes its subnets itself", n.Name)
	}
	for region, names := range n.Subnets {
		for _, name := range names {
			if !resourceName.MatchString(name) {
				return fmt.Errorf("network %s: subnet %q of %s: not a name", n.Name, name, region)
			}
		}
	}
	return nil
}

func (p Project) validateNetworks() error {
	host := ""
	for _, n := range p.Networks {
		if err := n.validate(); err != nil {
			return err
		}
		if n.Host != "" && host != "" && n.Host != host {
			return errors.New("a project has one host at most that shares its networks")
		}
		host = cmp.Or(n.Host, host)
	}
	return nil
}

// Networks are those of the project, or of its host, beside the default one.
func (i *Injector) Networks(host string) []Network {
	return slices.DeleteFunc(slices.Clone(i.faults.Project.Networks), func(n Network) bool { return n.Host != host })
}

// Host is the project that shares its networks with ours; empty: none does.
func (i *Injector) Host() string {
	for _, n := range i.faults.Project.Networks {
		if n.Host != "" {
			return n.Host
		}
	}
	return ""
}

// NoDefaultNetwork says whether the project's default network was deleted.
func (i *Injector) NoDefaultNetwork() bool { return i.faults.Project.NoDefault }
