// Package vm is what a door asks of the hypervisor: the contract between the
// lab's API doors, which know clouds but no processes, and the hypervisor,
// which knows processes but no clouds.
package vm

import (
	"context"
	"net/netip"
	"time"
)

// Spec is one machine as a door wants it.
type Spec struct {
	ID             string // unique in the lab, for example "i-0a1b…" or a GCE instance id
	Cloud, Region  string
	Zone           string
	Network        string     // whose machines reach each other's private addresses; empty: the region is one of its own
	IPv6           bool       // it gets an IPv6 address beside the others
	Public         netip.Addr // its public address, one that is set aside for it; invalid: any that is free
	MachineType    string
	Hostname       string
	User           string        // login made at boot, with passwordless root through "sudo"
	AuthorizedKeys []string      // authorized_keys lines of User
	HostKeyPEM     []byte        // OpenSSH private ed25519 key; empty: the machine makes its own and reports it
	BootCommands   []string      // run by root with /bin/sh -c, in order, after the network is up and before sshd
	BootDelay      time.Duration // waited before anything answers
	Faults         Faults
}

// Faults makes a machine misbehave.
type Faults struct {
	NeverBoot bool // the process tree exists, nothing ever answers
	RefuseSSH bool // boots, but nothing listens on port 22
}

// Addresses of a machine, from the moment Start returns.
type Addresses struct {
	Public  netip.Addr // reached by everyone in the lab
	Private netip.Addr // known in the machine's own network only
	IPv6    netip.Addr // reached by everyone in the lab; invalid unless the Spec asks for one
}

// Rule lets a flow in. Machines without a matching rule are not reached;
// answers to flows a machine opened itself always are.
type Rule struct {
	Protocol string         // "tcp", "udp", "icmp" or "all"
	FromPort uint16         // inclusive; both 0 with "icmp" and "all"
	ToPort   uint16         // inclusive
	Sources  []netip.Prefix // nobody when empty
}

// EventKind says what a machine reported.
type EventKind string

const (
	Booted  EventKind = "booted"   // sshd listens
	HostKey EventKind = "host-key" // the machine made its own key: Event.HostKey
	Halted  EventKind = "halted"   // it powered itself off, or its process tree died
)

// Event is news of one machine.
type Event struct {
	ID      string
	Kind    EventKind
	HostKey string // authorized_keys line of the public half
}

// Hypervisor starts and ends machines. Safe for concurrent use.
type Hypervisor interface {
	// Start begins a machine's process tree and returns its addresses; the boot
	// goes on afterwards. On an error nothing is left.
	Start(ctx context.Context, spec Spec) (Addresses, error)
	// Stop ends the machine's whole process tree and returns when it is gone.
	// Unknown ids are fine. A stopped machine sends no Halted event.
	Stop(ctx context.Context, id string) error
	// SetRules replaces what may reach the machine. Nothing may before the first call.
	SetRules(id string, rules []Rule) error
	// Watch has f called with every event from now on, one at a time, in order.
	// f must not block, and may call the Hypervisor only from another goroutine.
	Watch(f func(Event))
}
