package gcp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	compute "cloud.google.com/go/compute/apiv1"
	"github.com/googleapis/gax-go/v2"
	"golang.org/x/sync/singleflight"
	"google.golang.org/api/cloudresourcemanager/v3"
	"google.golang.org/api/option"

	"github.com/antipode-bench/antipode/providers"
)

const (
	// Cloud is the name of this cloud everywhere in the project.
	Cloud = "gcp"
	// DefaultMachineType is the smallest with a steady share of a core.
	DefaultMachineType = "e2-small"
	// User is the login made for a run.
	User = "antipode"
)

// Options choose the project and the way to it. The zero value is the real GCP
// with the credentials and project every Google tool would find.
type Options struct {
	Project     string        // empty: GOOGLE_CLOUD_PROJECT, or the credentials' own
	Endpoint    string        // of Compute Engine, without credentials; empty: the real one
	HTTPClient  *http.Client  // nil: one of our own, with the credentials
	CallTimeout time.Duration // of one try of one call; 0: providers.DefaultCallTimeout
	Log         *slog.Logger  // told of repeated calls; nil: silence
}

// Provider is a providers.Provider for one GCP project.
type Provider struct {
	project string
	caller  *providers.Caller
	carrier *carrier

	instances *compute.InstancesClient
	disks     *compute.DisksClient
	nets      *compute.NetworksClient
	subnets   *compute.SubnetworksClient
	firewalls *compute.FirewallsClient
	regions   *compute.RegionsClient
	projects  *compute.ProjectsClient
	images    *compute.ImagesClient
	types     *compute.MachineTypesClient
	rights    *cloudresourcemanager.Service

	preparing singleflight.Group // of what a run's machines share, by what and run id
	admitting locks              // by run id and region
	doubts    providers.Doubts   // by run id
	networks  sync.Map           // run id to the network of its machines
	subnetsIn sync.Map           // network to the subnets that a user's own has
}

var _ providers.Provider = (*Provider)(nil)

// New finds credentials and project, within seconds, and makes no call to
// Compute Engine. Its error says what to set.
func New(ctx context.Context, opts Options) (*Provider, error) {
	acc, err := openAccount(ctx, opts)
	if err != nil {
		return nil, &providers.Error{Op: "credentials", Cloud: Cloud, Kind: providers.Auth, Err: err}
	}
	p := &Provider{
		project: acc.project,
		caller:  &providers.Caller{Cloud: Cloud, Classify: classify, Timeout: opts.CallTimeout, Log: opts.Log},
	}
	var options []option.ClientOption
	p.carrier, options = acc.connection(opts.Endpoint)
	if err := p.connect(ctx, options); err != nil {
		return nil, providers.Wrap(Cloud, "", "connect", err)
	}
	return p, nil
}

func (p *Provider) connect(ctx context.Context, opts []option.ClientOption) error {
	var errs [10]error
	p.instances, errs[0] = compute.NewInstancesRESTClient(ctx, opts...)
	p.disks, errs[1] = compute.NewDisksRESTClient(ctx, opts...)
	p.nets, errs[2] = compute.NewNetworksRESTClient(ctx, opts...)
	p.firewalls, errs[3] = compute.NewFirewallsRESTClient(ctx, opts...)
	p.regions, errs[4] = compute.NewRegionsRESTClient(ctx, opts...)
	p.subnets, errs[5] = compute.NewSubnetworksRESTClient(ctx, opts...)
	p.projects, errs[6] = compute.NewProjectsRESTClient(ctx, opts...)
	p.images, errs[7] = compute.NewImagesRESTClient(ctx, opts...)
	p.types, errs[8] = compute.NewMachineTypesRESTClient(ctx, opts...)
	p.rights, errs[9] = cloudresourcemanager.NewService(ctx, opts...)
	return errors.Join(errs[:]...)
}

// Cloud is "gcp".
func (p *Provider) Cloud() string { return Cloud }

// once keeps the SDK from repeating a call by itself: our own wrapper does, and
// reports it.
var once = gax.WithRetry(func() gax.Retryer { return nil })

// ask makes one call of one of the SDK's clients. op is the API's own name of
// it, region is empty for what is global.
func ask[In, Out any](ctx context.Context, p *Provider, region, op string,
	method func(context.Context, In, ...gax.CallOption) (Out, error), in In) (Out, error) {
	return call(ctx, p, region, op, func(ctx context.Context) (Out, error) { return method(ctx, in, once) })
}

// call makes one call that is more than one method: reading a list to its end.
func call[Out any](ctx context.Context, p *Provider, region, op string,
	f func(context.Context) (Out, error)) (Out, error) {
	out, err := providers.Call(ctx, p.caller, region, op, func(ctx context.Context) (Out, error) {
		ctx, done := p.carrier.mark(ctx)
		defer done()
		return f(ctx)
	})
	return out, explained(err)
}
