//go:build !race

package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/model"
	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/vm/vmtest"
	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/aws"
	"github.com/antipode-bench/antipode/providers/gcp"
)

// The regions of the matrix. Faults hit the first of each cloud; AWS's second
// one is where its accounts are asked who they are.
var (
	ireland  = antipode.Region{Cloud: "aws", Name: "eu-west-1"}
	virginia = antipode.Region{Cloud: "aws", Name: "us-east-1"}
	oregon   = antipode.Region{Cloud: "gcp", Name: "us-west1"}
	belgium  = antipode.Region{Cloud: "gcp", Name: "europe-west1"}

	matrixRegions = []antipode.Region{ireland, virginia, oregon, belgium}
)

const matrixRun = "20261130t172233z-ab23"

// matrixWorld is a sweep's whole world in one process: the lab's doors with
// machines that are only remembered, and the clouds' own SDKs in front of them,
// talking HTTP over pipes. So it can be lived through in fake time.
type matrixWorld struct {
	regions   []antipode.Region // to sweep
	machines  *vmtest.Hypervisor
	doors     *door.Doors
	calls     *callLog
	providers map[string]providers.Provider
	disksStay atomic.Bool // when the machines that are made from now on end
}

// openMatrixWorld must be called inside a synctest bubble.
func openMatrixWorld(t *testing.T, faults door.Faults) *matrixWorld {
	t.Helper()
	w := &matrixWorld{regions: matrixRegions, machines: vmtest.New(), calls: &callLog{}, providers: map[string]providers.Provider{}}
	var err error
	w.doors, err = door.New(door.Options{
		Regions: matrixRegions, Machines: w.machines, Faults: faults, Log: slog.New(w.calls)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.doors.Close(); err != nil {
			t.Errorf("close the doors: %v", err)
		}
	})
	w.openProviders(t)
	return w
}

// openProviders are those of a new process, which remembers nothing.
func (w *matrixWorld) openProviders(t *testing.T) {
	t.Helper()
	var err error
	w.providers["aws"], err = aws.New(t.Context(), aws.Options{Endpoint: "http://aws.test",
		HTTPClient: w.client(t, w.doors.AWS()), Credentials: aws.StaticCredentials("AKIALAB", "secret")})
	if err != nil {
		t.Fatal(err)
	}
	w.providers["gcp"], err = gcp.New(t.Context(), gcp.Options{Endpoint: "http://gcp.test",
		HTTPClient: w.client(t, w.doors.GCP()), Project: door.DefaultProject})
	if err != nil {
		t.Fatal(err)
	}
}

// leavePlacementGroup makes what a teardown removes though no sweep makes it.
func (w *matrixWorld) leavePlacementGroup(t *testing.T) {
	t.Helper()
	client := ec2.New(ec2.Options{BaseEndpoint: awssdk.String("http://aws.test"), Region: ireland.Name,
		HTTPClient: overPipes(t, w.doors.AWS()), Credentials: aws.StaticCredentials("AKIALAB", "secret")})
	tags := types.TagSpecification{ResourceType: types.ResourceTypePlacementGroup}
	for key, value := range map[string]string{providers.TagRun: matrixRun, providers.TagExpires: time.Now().Add(time.Hour).UTC().Format(time.RFC3339)} {
		tags.Tags = append(tags.Tags, types.Tag{Key: awssdk.String(key), Value: awssdk.String(value)})
	}
	if _, err := client.CreatePlacementGroup(t.Context(), &ec2.CreatePlacementGroupInput{GroupName: awssdk.String("near"),
		Strategy: types.PlacementStrategyCluster, TagSpecifications: []types.TagSpecification{tags}}); err != nil {
		t.Fatal(err)
	}
}

// client is one of a provider's.
func (w *matrixWorld) client(t *testing.T, handler http.Handler) *http.Client {
	client := overPipes(t, handler)
	client.Transport = changed{client.Transport, func(body []byte) []byte {
		if w.disksStay.Load() {
			return keepDisks(body)
		}
		return body
	}}
	return client
}

// sweep measures all pairs of the regions and returns what the command would
// know at its end.
func (w *matrixWorld) sweep(t *testing.T, dir string) (orchestrator.Summary, error) {
	return orchestrator.Run(t.Context(), w.config(t, dir))
}

// config is of a sweep that wishes nothing in particular.
func (w *matrixWorld) config(t *testing.T, dir string) orchestrator.Config {
	var pairs []plan.Pair
	for _, from := range w.regions {
		for _, to := range w.regions {
			if from != to {
				pairs = append(pairs, plan.Pair{From: from, To: to})
			}
		}
	}
	return orchestrator.Config{
		RunID: matrixRun, Dir: dir, Expires: time.Now().Add(6 * time.Hour), Pairs: pairs,
		Providers:      w.providers,
		MachineTypes:   map[string]string{"aws": aws.DefaultMachineType, "gcp": gcp.DefaultMachineType},
		Remote:         newMatrixRemote(t, w.machines),
		ControllerAddr: controllerAddr,
		Test:           orchestrator.Test{Duration: time.Second, Streams: 1, RTTProbes: 5, RTTInterval: 10 * time.Millisecond},
		Observer: func(e orchestrator.Event) {
			if e.Kind == orchestrator.PhaseChanged {
				w.calls.enter(e.Phase)
			}
		},
	}
}

// left is what really exists, however late the clouds' own lists are.
func (w *matrixWorld) left() []string {
	var list []string
	for _, item := range w.doors.Inventory().Alive() {
		list = append(list, item.Kind+" "+item.ID)
	}
	return append(list, w.machines.Running()...)
}

// reaches says whether the rules of the machine at an address let a packet in,
// and whether there is a way to it: private addresses end at their network.
func reaches(machines *vmtest.Hypervisor, to netip.Addr, protocol string, port uint16, from netip.Addr) bool {
	m, ok := machineAt(machines, to)
	sender, _ := machineAt(machines, from)
	if !ok || !m.Booted || to.IsPrivate() && (sender.Spec.Network == "" || sender.Spec.Network != m.Spec.Network) {
		return false
	}
	return slices.ContainsFunc(m.Rules, func(r vm.Rule) bool {
		return r.Protocol == protocol && r.FromPort <= port && port <= r.ToPort &&
			slices.ContainsFunc(r.Sources, func(p netip.Prefix) bool { return p.Contains(from) })
	})
}

// machineAt finds a running machine by either address.
func machineAt(machines *vmtest.Hypervisor, addr netip.Addr) (vmtest.Machine, bool) {
	for _, id := range machines.Running() {
		if m, ok := machines.Machine(id); ok && (m.Addresses.Public == addr || m.Addresses.Private == addr) {
			return m, true
		}
	}
	return vmtest.Machine{}, false
}

// overPipes starts an HTTP server that is reached without a network.
func overPipes(t *testing.T, handler http.Handler) *http.Client {
	l := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: handler, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	transport := &http.Transport{DialContext: l.dial, MaxIdleConnsPerHost: 64}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		<-served
	})
	return &http.Client{Transport: model.Watch(t, plainBodies{transport})}
}

// plainBodies hides how the AWS SDK's request bodies write themselves: closed,
// they report io.EOF as an error, and the transport cuts the connection. They
// are closed when the answer begins, which over a pipe is before the transport
// has looked for the body's end.
type plainBodies struct{ next http.RoundTripper }

func (p plainBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r = r.Clone(r.Context())
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return p.next.RoundTrip(r)
}

// pipes is a net.Listener whose connections are pipes.
type pipes struct {
	accepted chan net.Conn
	once     sync.Once
	closed   chan struct{}
}

func (l *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.accepted <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, io.EOF
	}
}

func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// callLog keeps what the doors say of every call they get. It is a
// slog.Handler, since the doors tell their log.
type callLog struct {
	slog.Handler
	mu    sync.Mutex
	phase orchestrator.Phase
	calls []apiCall
}

// apiCall is one call as a door met it.
type apiCall struct {
	cloud, region, name string // region is empty for what is global
	fault               string
	phase               orchestrator.Phase
}

func (l *callLog) enter(p orchestrator.Phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase = p
}

func (l *callLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *callLog) Handle(_ context.Context, r slog.Record) error {
	cloud, isCall := map[string]string{"aws call": "aws", "gcp call": "gcp"}[r.Message]
	if !isCall {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := apiCall{cloud: cloud, phase: l.phase}
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "region":
			c.region = a.Value.String()
		case "call":
			c.name = a.Value.String()
		case "fault":
			c.fault = a.Value.String()
		}
		return true
	})
	l.calls = append(l.calls, c)
	return nil
}

// all returns the calls so far.
func (l *callLog) all() []apiCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.calls)
}
