package orchestrator

import (
	"cmp"
	"context"
	"net/netip"

	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
)

const sshPort = 22

// NewSSH makes the Remote that logs in with a fresh key of the run's own and pushes
// the fitting one of probes. A nil dial means the ordinary network.
func NewSSH(runID string, probes remote.Probes, dial remote.DialFunc) (Remote, error) {
	key, err := remote.NewKeyPair(providers.Name(runID))
	if err != nil {
		return nil, err
	}
	return &sshRemote{runID: runID, key: key, probes: probes, dial: dial}, nil
}

type sshRemote struct {
	runID  string
	key    remote.KeyPair
	probes remote.Probes
	dial   remote.DialFunc
}

func (r *sshRemote) AuthorizedKey() string { return r.key.AuthorizedKey }

func (r *sshRemote) HostKey() ([]byte, string, error) {
	key, err := remote.NewKeyPair(providers.Name(r.runID))
	return key.PEM, key.AuthorizedKey, err
}

func (r *sshRemote) Connect(ctx context.Context, m providers.Machine) (Conn, error) {
	conn, err := remote.Connect(ctx, remote.Target{
		Name:    cmp.Or(m.ID, m.Region),
		Addr:    netip.AddrPortFrom(m.Public, sshPort),
		User:    m.User,
		HostKey: m.HostKey,
	}, remote.Options{Key: r.key.Signer, Dial: r.dial})
	if err != nil {
		return nil, err
	}
	return &sshConn{conn, r.probes}, nil
}

type sshConn struct {
	*remote.Conn
	probes remote.Probes
}

func (c *sshConn) Push(ctx context.Context) (string, error) { return c.Conn.Push(ctx, c.probes) }

func (c *sshConn) StartAgent(ctx context.Context, path string) (Agent, error) {
	agent, err := c.Conn.StartAgent(ctx, path)
	if err != nil {
		return nil, err
	}
	return agent, nil
}
