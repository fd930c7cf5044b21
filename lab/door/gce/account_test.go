package gce_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/cloudresourcemanager/v3"
	"google.golang.org/protobuf/proto"

	"github.com/antipode-bench/antipode/lab/door/fault"
)

// TestQuotas: each limit lets in what it says and no more, says so where the
// cloud does, and gives back what was deleted.
func TestQuotas(t *testing.T) {
	for name, tt := range map[string]struct {
		limit       fault.Allowance
		machineType string
		other       string // zone of the one too many
		want        string
	}{
		"Region":    {fault.Allowance{Quota: "CPUS", Limit: 3, Place: fault.Place{Region: "europe-west1"}}, "e2-small", belgium, "Quota 'CPUS' exceeded.  Limit: 3.0 in region europe-west1."},
		"Family":    {fault.Allowance{Quota: "N2_CPUS", Limit: 2}, "n2-standard-2", belgium, "Quota 'N2_CPUS' exceeded.  Limit: 2.0 in region europe-west1."},
		"Addresses": {fault.Allowance{Quota: "IN_USE_ADDRESSES", Limit: 1}, "e2-small", belgium, "Quota 'IN_USE_ADDRESSES' exceeded.  Limit: 1.0 in region europe-west1."},
		"Global":    {fault.Allowance{Quota: "CPUS_ALL_REGIONS", Limit: 2}, "e2-small", oregon, "Quota 'CPUS_ALL_REGIONS' exceeded.  Limit: 2.0 globally."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := open(t, fault.Faults{Quotas: []fault.Allowance{tt.limit}}, brisk())
				ofType := func(zone string) func(*computepb.Instance) {
					return func(i *computepb.Instance) {
						i.MachineType = proto.String("zones/" + zone + "/machineTypes/" + tt.machineType)
					}
				}
				l.create(belgium, spec("m1", belgium, ofType(belgium)))
				op, err := l.insert(tt.other, spec("m2", tt.other, ofType(tt.other)))
				if err != nil {
					t.Fatal(err)
				}
				_ = op.Wait(t.Context()) // what it makes of the error is not what is tested
				if got := op.Proto().GetError().GetErrors(); len(got) != 1 || got[0].GetCode() != "QUOTA_EXCEEDED" || got[0].GetMessage() != tt.want {
					t.Errorf("the operation ends with %v, want %s", got, tt.want)
				}
				if _, err := l.get(tt.other, "m2"); err == nil {
					t.Error("the one too many is there")
				}
				l.delete(belgium, "m1")
				l.create(tt.other, spec("m3", tt.other, ofType(tt.other)))
			})
		})
	}
}

func TestRegionTellsQuotas(t *testing.T) { synctest.Test(t, testRegionTellsQuotas) }

func testRegionTellsQuotas(t *testing.T) {
	l := open(t, fault.Faults{Quotas: []fault.Allowance{{Quota: "CPUS", Limit: 7}}}, brisk())
	l.create(belgium, spec("m1", belgium, nil))
	r, err := client(l, compute.NewRegionsRESTClient).Get(t.Context(), &computepb.GetRegionRequest{Project: project, Region: "europe-west1"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][2]float64{}
	for _, q := range r.GetQuotas() {
		got[q.GetMetric()] = [2]float64{q.GetUsage(), q.GetLimit()}
	}
	want := map[string][2]float64{"CPUS": {2, 7}, "IN_USE_ADDRESSES": {1, 69}, "N2_CPUS": {0, 256}, "C3_CPUS": {0, 256}, "T2A_CPUS": {0, 256}, "T2D_CPUS": {0, 256}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPolicies: an organisation's policies refuse what they forbid, and are
// named in the answer.
func TestPolicies(t *testing.T) {
	login := func(value string) func(*computepb.Instance) {
		return func(i *computepb.Instance) {
			i.Metadata.Items = append(i.Metadata.Items, &computepb.Items{Key: proto.String("enable-oslogin"), Value: &value})
		}
	}
	for policy, tt := range map[string]struct{ refused, allowed func(*computepb.Instance) }{
		fault.NoExternalAddress: {nil, func(i *computepb.Instance) { i.NetworkInterfaces[0].AccessConfigs = nil }},
		fault.RequireOSLogin:    {login("FALSE"), login("TRUE")},
	} {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := open(t, fault.Faults{Project: fault.Project{Policies: []string{policy}}}, brisk())
				_, err := l.insert(belgium, spec("m1", belgium, tt.refused))
				wantFailure(t, err, http.StatusPreconditionFailed, "conditionNotMet")
				if err != nil && !strings.Contains(err.Error(), "constraints/"+policy) {
					t.Errorf("the policy is not named: %v", err)
				}
				l.create(belgium, spec("m2", belgium, tt.allowed))
			})
		})
	}
}

// TestGuestAttributesForbidden: the read is what an organisation forbids.
func TestGuestAttributesForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{Project: fault.Project{Policies: []string{fault.NoGuestAttributes}}}, brisk())
		l.create(belgium, spec("m1", belgium, nil))
		_, err := l.instances().GetGuestAttributes(t.Context(), &computepb.GetGuestAttributesInstanceRequest{
			Project: project, Zone: belgium, Instance: "m1", QueryPath: proto.String("hostkeys/")})
		wantFailure(t, err, http.StatusPreconditionFailed, "conditionNotMet")
	})
}

// TestProjectMetadata is what an instance does not say itself.
func TestProjectMetadata(t *testing.T) { synctest.Test(t, testProjectMetadata) }

func testProjectMetadata(t *testing.T) {
	l := open(t, fault.Faults{Project: fault.Project{Metadata: map[string]string{"enable-oslogin": "TRUE"}}}, brisk())
	p, err := client(l, compute.NewProjectsRESTClient).Get(t.Context(), &computepb.GetProjectRequest{Project: project})
	if err != nil {
		t.Fatal(err)
	}
	items := p.GetCommonInstanceMetadata().GetItems()
	if len(items) != 1 || items[0].GetKey() != "enable-oslogin" || items[0].GetValue() != "TRUE" {
		t.Errorf("metadata = %v", items)
	}
	for name, want := range map[string]int{"theirs": 0, "its-own": 1} {
		l.create(belgium, spec(name, belgium, func(i *computepb.Instance) {
			if name == "its-own" {
				i.Metadata.Items = append(i.Metadata.Items, &computepb.Items{Key: proto.String("enable-oslogin"), Value: proto.String("FALSE")})
			}
		}))
		i, err := l.get(belgium, name)
		if err != nil {
			t.Fatal(err)
		}
		machine, _ := l.machines.Machine(fmt.Sprint(i.GetId()))
		if got := len(machine.Spec.AuthorizedKeys); got != want {
			t.Errorf("%s: %d keys let in, want %d", name, got, want)
		}
	}
}

func TestAPIDisabled(t *testing.T) {
	l := open(t, fault.Faults{Project: fault.Project{APIDisabled: true}}, brisk())
	_, err := client(l, compute.NewProjectsRESTClient).Get(t.Context(), &computepb.GetProjectRequest{Project: project})
	wantFailure(t, err, http.StatusForbidden, "accessNotConfigured")
}

func TestPermissions(t *testing.T) {
	l := open(t, fault.Faults{Calls: []fault.Call{
		{Call: "firewalls.insert", Kind: fault.Denied}, {Call: "instances.get", Kind: fault.Denied, Count: 1}}}, brisk())
	asked := []string{"compute.firewalls.create", "compute.instances.get", "compute.networks.create"}
	s, err := cloudresourcemanager.NewService(t.Context(), l.options()...)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Projects.TestIamPermissions("projects/"+project, &cloudresourcemanager.TestIamPermissionsRequest{Permissions: asked}).Do()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"compute.instances.get", "compute.networks.create"}, answer.Permissions); diff != "" {
		t.Error(diff)
	}
}
