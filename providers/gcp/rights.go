package gcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/api/cloudresourcemanager/v3"
	"google.golang.org/api/googleapi"

	"github.com/antipode-bench/antipode/providers"
)

// permissions are what a run can't do without in its project; docs/permissions.md
// says why.
var permissions = []string{
	"compute.disks.create", "compute.disks.delete", "compute.disks.list", "compute.disks.setLabels",
	"compute.firewalls.create", "compute.firewalls.delete", "compute.firewalls.get", "compute.firewalls.list", "compute.firewalls.update",
	"compute.globalOperations.get",
	"compute.instances.create", "compute.instances.delete", "compute.instances.get", "compute.instances.getGuestAttributes",
	"compute.instances.list", "compute.instances.setLabels", "compute.instances.setMetadata", "compute.instances.setTags",
	"compute.networks.create", "compute.networks.delete", "compute.networks.get", "compute.networks.list", "compute.networks.updatePolicy",
	"compute.regionOperations.get", "compute.regions.get",
	"compute.subnetworks.create", "compute.subnetworks.delete", "compute.subnetworks.get", "compute.subnetworks.list",
	"compute.subnetworks.use", "compute.subnetworks.useExternalIp",
	"compute.zoneOperations.get",
}

// aboutPermissions asks which of them we have, where we need them. Rights to use
// a subnet that another project shares may be the subnet's alone.
func (p *Provider) aboutPermissions(ctx context.Context, w providers.Wanted, n *notes) {
	chosen, named := chosenIn(w)
	elsewhere := named && p.located(chosen).project != p.project
	p.aboutPermissionsIn(ctx, n, p.project, func(permission string) bool {
		about, verb, _ := strings.Cut(strings.TrimPrefix(permission, "compute."), ".")
		switch about {
		case "networks", "subnetworks":
			made := verb == "create" || verb == "delete"
			return !named || !elsewhere && !made
		case "firewalls":
			return !elsewhere
		}
		return true
	})
	if elsewhere {
		p.aboutPermissionsIn(ctx, n, chosen.Project, func(permission string) bool {
			return strings.HasPrefix(permission, "compute.firewalls.") || permission == "compute.networks.updatePolicy"
		})
	}
}

// aboutPermissionsIn asks about those that are needed in a project. The API that knows is not
// Compute Engine's, and need not be enabled for anything else.
func (p *Provider) aboutPermissionsIn(ctx context.Context, n *notes, project string, needed func(string) bool) {
	want := slices.DeleteFunc(slices.Clone(permissions), func(one string) bool { return !needed(one) })
	have, err := call(ctx, p, "", "projects.testIamPermissions", func(ctx context.Context) ([]string, error) {
		answer, err := p.rights.Projects.TestIamPermissions("projects/"+project,
			&cloudresourcemanager.TestIamPermissionsRequest{Permissions: want}).Context(ctx).Do()
		if err != nil {
			return nil, err
		}
		return answer.Permissions, nil
	})
	if providers.KindOf(err) == providers.Auth {
		n.add(providers.Finding{Verdict: providers.VerdictWarn, Reason: "permissions are not checked: " +
			"`gcloud services enable cloudresourcemanager.googleapis.com` lets them be"})
		return
	}
	if err != nil {
		n.add(providers.Found(providers.VerdictWarn, err))
		return
	}
	missing := slices.DeleteFunc(want, func(one string) bool { return slices.Contains(have, one) })
	if len(missing) > 0 {
		n.add(providers.Finding{Verdict: providers.VerdictRefuse, Reason: fmt.Sprintf(
			"in project %s we miss the permissions %s; the role Compute Admin has them all", project, strings.Join(missing, ", "))})
	}
}

// aboutProject asks whether there is the project and its Compute Engine, and
// what it tells its machines that ours tell otherwise.
func (p *Provider) aboutProject(ctx context.Context, w providers.Wanted, n *notes) *computepb.Project {
	project, err := ask(ctx, p, "", "projects.get", p.projects.Get, &computepb.GetProjectRequest{Project: p.project})
	if err != nil {
		n.add(providers.Found(providers.VerdictRefuse, disabled(p.project, err)))
		return nil
	}
	for _, item := range project.GetCommonInstanceMetadata().GetItems() {
		for _, our := range overridden {
			if item.GetKey() == our.key && strings.EqualFold(item.GetValue(), our.value) {
				n.add(providers.Finding{Verdict: providers.VerdictWarn, Reason: our.says})
			}
		}
	}
	for _, networks := range allowances(project.GetQuotas(), map[string]float64{"NETWORKS": 1}) {
		if _, named := chosenIn(w); networks.Room() == 0 && !named {
			n.add(providers.Finding{Verdict: providers.VerdictRefuse, Reason: fmt.Sprintf("quota %v, and a run makes one", networks)})
		}
	}
	return project
}

// overridden are project settings that a run's machines set for themselves.
// It works, unless an organisation policy keeps them from it.
var overridden = []struct{ key, value, says string }{
	{"enable-oslogin", "TRUE", "OS Login is on in the project; the run's machines turn it off for themselves, " +
		"which an organisation policy (constraints/compute.requireOsLogin) may refuse"},
	{"enable-guest-attributes", "FALSE", "guest attributes are off in the project; the run's machines turn them on for themselves, " +
		"which an organisation policy (constraints/compute.disableGuestAttributesAccess) may refuse"},
}

// disabled says how to enable the API, if that is what is wrong.
func disabled(project string, err error) error {
	var answer *googleapi.Error
	if !errors.As(err, &answer) || !slices.ContainsFunc(answer.Errors, func(item googleapi.ErrorItem) bool { return item.Reason == "accessNotConfigured" }) {
		return err
	}
	return &providers.Error{Op: "projects.get", Cloud: Cloud, Kind: providers.Auth, Err: fmt.Errorf(
		"the Compute Engine API is not enabled: `gcloud services enable compute.googleapis.com --project %s` does that", project)}
}
