package hosts

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/strictyaml"
)

// Cloud is what stands for a cloud's name in regions, rows and flags.
const Cloud = "hosts"

// MachineType is what stands for a machine type: hosts have none.
const MachineType = "host"

// Host is a machine of the inventory and the way into it.
type Host struct {
	Region    antipode.Region // Cloud and the host's name, and where it stands
	Address   netip.Addr      // that the controller and the other machines reach; may be of IPv6
	IPv6      netip.Addr      // that the other machines reach; may be Address, or invalid
	Private   netip.Addr      // in a network of its own; may be invalid
	SSHPort   int
	User      string
	HostKeys  []ssh.PublicKey // no other is accepted
	Signers   []ssh.Signer    // to log in with, offered in this order
	ProbePort int             // TCP and UDP; 0 means the run's
}

// Environment is what an inventory is read in.
type Environment struct {
	Regions     []antipode.Region // that `at` may name
	Home        string            // what ~ stands for
	AgentSocket string            // of ssh-agent; empty without one
}

// Load reads an inventory file strictly, and the key and known_hosts files it
// names. What is wrong is said as "file:line: what", one a line, all of it at
// once. Relative paths in it begin at its own folder.
func Load(path string, env Environment) ([]Host, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load hosts: %w", err)
	}
	p := parser{File: strictyaml.File{Name: path}, env: env, first: map[string]int{}}
	for _, n := range p.List(data, "hosts", "host") {
		p.host(n)
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	return p.hosts, nil
}

// Regions are the hosts as regions, in the order of the inventory.
func Regions(hosts []Host) []antipode.Region {
	var regions []antipode.Region
	for _, h := range hosts {
		regions = append(regions, h.Region)
	}
	return regions
}
