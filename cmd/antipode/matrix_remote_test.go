//go:build !race

package main

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/lab/vm/vmtest"
	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
)

var controllerAddr = netip.MustParseAddr("198.18.255.1")

// matrixRemote reaches machines that are only remembered: as far as their
// rules let it, and no further.
type matrixRemote struct {
	t        *testing.T
	machines *vmtest.Hypervisor
	login    string
}

func newMatrixRemote(t *testing.T, machines *vmtest.Hypervisor) *matrixRemote {
	r := &matrixRemote{t: t, machines: machines}
	_, login, err := r.HostKey("login")
	if err != nil {
		t.Fatal(err)
	}
	r.login = login
	return r
}

func (r *matrixRemote) AuthorizedKey() string { return r.login }

func (r *matrixRemote) HostKey(region string) (private []byte, public string, err error) {
	seed := sha256.Sum256([]byte(region))
	key := ed25519.NewKeyFromSeed(seed[:])
	sshPub, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		return nil, "", err
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		return nil, "", err
	}
	return pem.EncodeToMemory(block), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(sshPub))), nil
}

func (r *matrixRemote) Secrets() ([]byte, error) { return []byte("secrets"), nil }

func (r *matrixRemote) Connect(ctx context.Context, m providers.Machine) (orchestrator.Conn, error) {
	if m.HostKey == "" || m.User == "" {
		r.t.Errorf("%s %s has no host key or no login", m.Cloud, m.ID)
	}
	for !reaches(r.machines, m.Public, "tcp", 22, controllerAddr) {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, fmt.Errorf("SSH of %s: %w", m.Public, context.Cause(ctx))
		}
	}
	return &matrixConn{remote: r, at: m.Public, ended: make(chan struct{})}, nil
}

// matrixConn is a connection, and the agent at its end.
type matrixConn struct {
	remote *matrixRemote
	at     netip.Addr
	once   sync.Once
	ended  chan struct{}
}

func (c *matrixConn) Push(context.Context) (string, error) { return "/home/probe", nil }

func (c *matrixConn) Tune(context.Context, remote.Tuning) ([]remote.Setting, error) { return nil, nil }

func (c *matrixConn) StartAgent(context.Context, string) (orchestrator.Agent, error) { return c, nil }

func (c *matrixConn) Close() error {
	c.once.Do(func() { close(c.ended) })
	return nil
}

func (c *matrixConn) Hello() wire.Hello { return wire.Hello{Version: wire.Version} }

func (c *matrixConn) Done() <-chan struct{} { return c.ended }

func (c *matrixConn) Err() error { return fmt.Errorf("the agent at %s ended", c.at) }

// Call answers for a path without loss, if the peer's rules let it in.
func (c *matrixConn) Call(ctx context.Context, req wire.Request) (wire.Response, error) {
	switch {
	case req.Alive != nil:
		return wire.Response{}, nil
	case req.Serve != nil:
		return wire.Response{Serve: &wire.ServeResult{Port: req.Serve.Port}}, nil
	case req.RTT != nil:
		n := req.RTT.Probes
		return wire.Response{RTT: &wire.RTTResult{Probes: n, Received: n, MinMs: 300, MeanMs: 300, P50Ms: 300, P99Ms: 300}},
			c.reach(ctx, "udp", req.RTT.Peer)
	}
	return wire.Response{Throughput: &wire.ThroughputResult{GoodputBps: 1e9, GoodputMeanBps: 1e9, Bytes: 125e6, DurationS: 1,
		Streams: 1, CongestionControl: "cubic", MSSBytes: 1448}}, c.reach(ctx, "tcp", req.Throughput.Peer)
}

func (c *matrixConn) reach(ctx context.Context, protocol string, peer wire.Peer) error {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	to, err := netip.ParseAddr(peer.Addr)
	if err != nil {
		return err
	}
	from := c.at
	if m, ok := machineAt(c.remote.machines, c.at); ok && to.IsPrivate() {
		from = m.Addresses.Private
	}
	if !reaches(c.remote.machines, to, protocol, uint16(peer.Port), from) {
		return fmt.Errorf("%s does not let %s in", to, from)
	}
	return nil
}
