package hosts

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/providers"
)

// Provider hands out the hosts of an inventory.
type Provider struct{ hosts map[string]Host } // by name

// New makes a provider of hosts, whose names differ.
func New(hosts []Host) *Provider {
	p := &Provider{map[string]Host{}}
	for _, h := range hosts {
		p.hosts[h.Region.Name] = h
	}
	return p
}

// Cloud is "hosts".
func (p *Provider) Cloud() string { return Cloud }

// Launch makes nothing: the host named by spec.Region is there. It is not
// dialled either; whether it answers is known when its SSH does.
func (p *Provider) Launch(ctx context.Context, spec providers.Spec) (providers.Machine, error) {
	h, err := p.find(ctx, spec.Region)
	if err == nil {
		err = spec.Check()
	}
	if err == nil {
		err = h.speaks(spec.IPv6)
	}
	if err != nil {
		return providers.Machine{}, failed(spec.Region, "find host", err)
	}
	return providers.Machine{
		Cloud: Cloud, Region: spec.Region, ID: spec.Region, Type: spec.MachineType,
		Public: h.Address, Private: h.Private, IPv6: h.IPv6,
		User: h.User, HostKey: h.hostKeyLines(),
		SSHPort: h.SSHPort, ProbePort: h.ProbePort, Lent: true,
	}, nil
}

// Admit opens nothing: what reaches a host's probe port is its owner's to say.
func (p *Provider) Admit(ctx context.Context, _ providers.Run, region string, _ int, _ []netip.Addr) error {
	_, err := p.find(ctx, region)
	return failed(region, "admit peers", err)
}

// List is empty: nothing that exists was made for a run.
func (p *Provider) List(context.Context, string, []string) ([]providers.Resource, error) {
	return nil, nil
}

// Destroy has nothing to do.
func (p *Provider) Destroy(_ context.Context, runID string, _ []string) error {
	if runID == "" {
		return failed("", "destroy", errors.New("no run id"))
	}
	return nil
}

// Signers are the keys that a machine of Launch may let us in with.
func (p *Provider) Signers(m providers.Machine) ([]ssh.Signer, error) {
	h, err := p.find(context.Background(), m.Region)
	return h.Signers, failed(m.Region, "log in", err)
}

func (p *Provider) find(ctx context.Context, name string) (Host, error) {
	h, ok := p.hosts[name]
	if !ok {
		return h, fmt.Errorf("no host %q in the inventory", name)
	}
	return h, ctx.Err()
}

// speaks says whether the host has an address of the version of IP that is
// measured.
func (h Host) speaks(ipv6 bool) error {
	var err error
	switch {
	case ipv6 && !h.IPv6.IsValid():
		err = errors.New("it has no IPv6 address; address6 in the inventory gives it one")
	case !ipv6 && !h.Address.Is4():
		err = errors.New("its only address is one of IPv6, which --ip 6 measures over")
	default:
		return nil
	}
	return &providers.Error{Op: "find host", Cloud: Cloud, Region: h.Region.Name, Kind: providers.Skip, Err: err}
}

func (h Host) hostKeyLines() string {
	var lines strings.Builder
	for _, k := range h.HostKeys {
		lines.Write(ssh.MarshalAuthorizedKey(k))
	}
	return lines.String()
}

// failed is nil without an error.
func failed(name, op string, err error) error {
	return providers.Wrap(Cloud, name, op, err)
}
