package gcp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/antipode-bench/antipode/providers"
)

// listRules finds firewall rules, which are in the project of the network they are
// about. Another process may have chosen one that the project's host shares with it.
func (p *Provider) listRules(ctx context.Context, runID string) ([]providers.Resource, error) {
	if n, known := p.networkOf(runID); known {
		return p.listRulesIn(ctx, n.project, runID)
	}
	var lists [2][]providers.Resource
	var errs [2]error
	var g sync.WaitGroup
	g.Go(func() { lists[0], errs[0] = p.listRulesIn(ctx, p.project, runID) })
	g.Go(func() { lists[1], errs[1] = p.listHostRules(ctx, runID) })
	g.Wait()
	return slices.Concat(lists[0], lists[1]), errors.Join(errs[0], errs[1])
}

func (p *Provider) listRulesIn(ctx context.Context, project, runID string) (list []providers.Resource, err error) {
	rules, err := p.rules(ctx, project, runID)
	for _, r := range rules {
		list = append(list, unlabelled(providers.FirewallRule, p.ruleID(project, r.GetName()), r.GetDescription()))
	}
	return list, err
}

// listHostRules finds those in the host project. Who may not look there can't have made any.
func (p *Provider) listHostRules(ctx context.Context, runID string) ([]providers.Resource, error) {
	host, err := p.hostProject(ctx)
	if err != nil || host == "" {
		return nil, err
	}
	list, err := p.listRulesIn(ctx, host, runID)
	if providers.KindOf(err) == providers.Auth {
		return nil, nil
	}
	return list, err
}

// hostProject is the host of the Shared VPC that the project is part of, empty if
// it is part of none. Who may not know can't have used it either.
func (p *Provider) hostProject(ctx context.Context) (string, error) {
	host, err := ask(ctx, p, "", "projects.getXpnHost", p.projects.GetXpnHost, &computepb.GetXpnHostProjectRequest{Project: p.project})
	if kind := providers.KindOf(err); kind == providers.Auth || kind == providers.NotFound {
		return "", nil
	}
	return host.GetName(), err
}

// ruleID is a firewall rule's name, and beside it the project if that is not ours.
func (p *Provider) ruleID(project, name string) string {
	if project == p.project {
		return name
	}
	return "projects/" + project + "/global/firewalls/" + name
}

// ruleAt undoes ruleID.
func (p *Provider) ruleAt(id string) (project, name string) {
	if rest, elsewhere := strings.CutPrefix(id, "projects/"); elsewhere {
		project, _, _ = strings.Cut(rest, "/")
		return project, last(id)
	}
	return p.project, id
}
