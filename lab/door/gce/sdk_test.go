package gce_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
	"google.golang.org/protobuf/proto"

	antipode "github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door/doortest"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/gce"
	"github.com/antipode-bench/antipode/lab/door/model"
	"github.com/antipode-bench/antipode/lab/door/rack"
	"github.com/antipode-bench/antipode/lab/vm/vmtest"
)

const (
	project = "antipode-lab"
	belgium = "europe-west1-b"
	oregon  = "us-west1-a"
	key     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
)

// lab is a door with a hypervisor in memory behind it.
type lab struct {
	t        *testing.T
	door     *gce.Door
	machines *vmtest.Hypervisor
	client   *http.Client
	url      string
}

// open opens a door that is called without a network, so that it can be used
// inside a synctest bubble. What is said is held against the API's model.
func open(t *testing.T, faults fault.Faults, timing rack.Timing) *lab {
	t.Helper()
	regions := []antipode.Region{{Cloud: "gcp", Name: "europe-west1"}, {Cloud: "gcp", Name: "us-west1"}, {Cloud: "aws", Name: "eu-west-1"}}
	r, injector, machines := doortest.Rack(t, faults, timing)
	door := gce.New(regions, project, r, injector, doortest.Silence)
	return &lab{t, door, machines, &http.Client{Transport: model.Watch(t, doortest.Direct(door))}, "http://door.test"}
}

// listen puts the lab on a loopback port and lets its clients use it.
func (l *lab) listen() *lab {
	server := httptest.NewServer(l.door)
	l.t.Cleanup(server.Close)
	l.client, l.url = &http.Client{Transport: model.Watch(l.t, server.Client().Transport)}, server.URL
	return l
}

// unwatched lets the lab's clients send what is wrong on purpose.
func (l *lab) unwatched() *lab {
	l.client = &http.Client{Transport: doortest.Direct(l.door)}
	return l
}

func (l *lab) options() []option.ClientOption {
	return []option.ClientOption{option.WithHTTPClient(l.client), option.WithEndpoint(l.url), option.WithoutAuthentication()}
}

// client makes a client of the SDK.
func client[C any](l *lab, make func(context.Context, ...option.ClientOption) (C, error)) C {
	l.t.Helper()
	c, err := make(l.t.Context(), l.options()...)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

func (l *lab) instances() *compute.InstancesClient { return client(l, compute.NewInstancesRESTClient) }
func (l *lab) networks() *compute.NetworksClient   { return client(l, compute.NewNetworksRESTClient) }
func (l *lab) firewalls() *compute.FirewallsClient { return client(l, compute.NewFirewallsRESTClient) }
func (l *lab) disks() *compute.DisksClient         { return client(l, compute.NewDisksRESTClient) }

// spec is an instance as a sweep asks for it.
func spec(name, zone string, edit func(*computepb.Instance)) *computepb.Instance {
	labels := map[string]string{"antipode-run": "r1"}
	i := &computepb.Instance{
		Name:        &name,
		MachineType: proto.String("zones/" + zone + "/machineTypes/e2-small"),
		Labels:      labels,
		Tags:        &computepb.Tags{Items: []string{"antipode-r1"}},
		Disks: []*computepb.AttachedDisk{{
			Boot: proto.Bool(true), AutoDelete: proto.Bool(true),
			InitializeParams: &computepb.AttachedDiskInitializeParams{
				SourceImage: proto.String("projects/debian-cloud/global/images/family/debian-12"), Labels: labels, DiskSizeGb: proto.Int64(10),
			},
		}},
		NetworkInterfaces: []*computepb.NetworkInterface{{
			Network:       proto.String("global/networks/default"),
			AccessConfigs: []*computepb.AccessConfig{{Name: proto.String("nat"), Type: proto.String("ONE_TO_ONE_NAT")}},
		}},
		Metadata: &computepb.Metadata{Items: []*computepb.Items{
			{Key: proto.String("ssh-keys"), Value: proto.String("antipode:" + key)},
			{Key: proto.String("enable-guest-attributes"), Value: proto.String("TRUE")},
		}},
	}
	if edit != nil {
		edit(i)
	}
	return i
}

// insert begins an insert; create waits for it.
func (l *lab) insert(zone string, i *computepb.Instance) (*compute.Operation, error) {
	return l.instances().Insert(l.t.Context(), &computepb.InsertInstanceRequest{Project: project, Zone: zone, InstanceResource: i})
}

func (l *lab) create(zone string, i *computepb.Instance) {
	l.t.Helper()
	l.done(l.insert(zone, i))
}

// done waits for an operation and fails unless it goes well.
func (l *lab) done(op *compute.Operation, err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := op.Wait(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	if op.Proto().GetError() != nil {
		l.t.Fatalf("operation: %v", op.Proto().GetError())
	}
}

func (l *lab) get(zone, name string) (*computepb.Instance, error) {
	return l.instances().Get(l.t.Context(), &computepb.GetInstanceRequest{Project: project, Zone: zone, Instance: name})
}

func (l *lab) delete(zone, name string) {
	l.t.Helper()
	l.done(l.instances().Delete(l.t.Context(), &computepb.DeleteInstanceRequest{Project: project, Zone: zone, Instance: name}))
}

// wantFailure fails unless err is the API's error of that status and reason.
func wantFailure(t *testing.T, err error, status int, reason string) {
	t.Helper()
	var api *googleapi.Error
	if !errors.As(err, &api) || api.Code != status || len(api.Errors) == 0 || api.Errors[0].Reason != reason {
		t.Errorf("error = %v, want %d %s", err, status, reason)
	}
}

// brisk is a timing without delays but those that order things.
func brisk() rack.Timing {
	return rack.Timing{Operation: rack.Range{Min: time.Millisecond, Max: 2 * time.Millisecond}}
}
