package aws

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/providers"
)

// Default limits of an account: 60 rules per group, 5 groups per interface, of
// which one is for SSH. A peer takes two rules, TCP and UDP.
const (
	rulesPerPeer  = 2
	peersPerGroup = 60 / rulesPerPeer
	peerGroups    = 4
)

// Admit fills the run's peer groups up, which its machine has had since Launch.
// The most peers that fit are 120.
func (p *Provider) Admit(ctx context.Context, run providers.Run, region string, probePort int, peers []netip.Addr) error {
	return providers.Wrap(Cloud, region, "Admit", p.region(region).admit(ctx, run, probePort, peers))
}

func (r *region) admit(ctx context.Context, run providers.Run, port int, peers []netip.Addr) error {
	r.admitting.Lock()
	defer r.admitting.Unlock()
	groups, err := r.groups(ctx, run.ID)
	if err != nil {
		return err
	}
	boxes, err := deal(boxesOf(groups, run.ID), peers)
	if err != nil {
		return err
	}
	return r.fill(ctx, run, boxes, port)
}

func peerGroup(runID string, n int) string {
	return fmt.Sprintf("%s-peers-%d", providers.Name(runID), n+1)
}

// box is one peer group: the rules it has, and the peers that belong in it.
type box struct {
	id    string // empty: not listed yet
	has   map[rule]bool
	peers []netip.Addr
}

// boxesOf are the run's peer groups as they are.
func boxesOf(groups []types.SecurityGroup, runID string) [peerGroups]box {
	var boxes [peerGroups]box
	for n := range boxes {
		boxes[n].has = map[rule]bool{}
		for _, g := range groups {
			if aws.ToString(g.GroupName) != peerGroup(runID, n) {
				continue
			}
			boxes[n].id = aws.ToString(g.GroupId)
			for _, rl := range rules(g.IpPermissions) {
				boxes[n].has[rl] = true
				if !slices.Contains(boxes[n].peers, rl.from) {
					boxes[n].peers = append(boxes[n].peers, rl.from)
				}
			}
		}
	}
	return boxes
}

var errTooMany = errors.New("more peers than security groups hold")

// deal gives every new peer a place in a box. One that has only half of its
// rules (TCP without UDP) keeps its place.
func deal(boxes [peerGroups]box, peers []netip.Addr) ([peerGroups]box, error) {
	placed := map[netip.Addr]bool{}
	for _, b := range boxes {
		for _, peer := range b.peers {
			placed[peer] = true
		}
	}
	for _, peer := range peers {
		peer = peer.Unmap()
		if placed[peer] {
			continue
		}
		n := slices.IndexFunc(boxes[:], func(b box) bool { return len(b.peers) < peersPerGroup })
		if n < 0 {
			return boxes, fmt.Errorf("%w: %d groups of %d", errTooMany, peerGroups, peersPerGroup)
		}
		boxes[n].peers = append(boxes[n].peers, peer)
		placed[peer] = true
	}
	return boxes, nil
}

// missing are the rules that the box's peers still need for port.
func (b box) missing(port int) []rule {
	return slices.DeleteFunc(peerRules(port, b.peers), func(rl rule) bool { return b.has[rl] })
}

// fill adds the rules that the groups lack.
func (r *region) fill(ctx context.Context, run providers.Run, boxes [peerGroups]box, port int) error {
	for n, b := range boxes {
		missing := b.missing(port)
		if len(missing) == 0 {
			continue
		}
		if b.id == "" { // the list may lag behind Launch
			id, err := r.findGroup(ctx, run, peerGroup(run.ID, n))
			if err != nil {
				return err
			}
			b.id = id
		}
		if err := r.authorize(ctx, b.id, missing...); err != nil {
			return err
		}
	}
	return nil
}

func peerRules(port int, peers []netip.Addr) []rule {
	var list []rule
	for _, protocol := range []string{"tcp", "udp"} {
		for _, peer := range peers {
			list = append(list, rule{protocol, port, peer})
		}
	}
	return list
}
