package orchestrator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
)

const sshPort = 22

// LentKeys are those that a lent machine may let us in with.
type LentKeys func(providers.Machine) ([]ssh.Signer, error)

// SSH says how the machines of a run are reached.
type SSH struct {
	RunID  string
	Probes remote.Probes   // the fitting one is pushed
	Dial   remote.DialFunc // nil: the ordinary network
	Lent   LentKeys        // may be nil where no machine is lent
	Linger time.Duration   // how long agents outlive our silence, see Limits; 0: the usual
}

// NewSSH makes the Remote that logs in with a fresh key of the run's own.
func NewSSH(o SSH) (Remote, error) {
	key, err := remote.NewKeyPair(providers.Name(o.RunID))
	if err != nil {
		return nil, err
	}
	keys := sshKeys{Login: storedKey{string(key.PEM), key.AuthorizedKey}, Hosts: map[string]storedKey{}}
	return &sshRemote{SSH: o, key: key, keys: keys, left: map[string]*remote.Leftovers{}}, nil
}

// RestoreSSH is the Remote that an earlier process had, from its Secrets.
func RestoreSSH(secrets []byte, o SSH) (Remote, error) {
	r := &sshRemote{SSH: o, left: map[string]*remote.Leftovers{}}
	if err := json.Unmarshal(secrets, &r.keys); err != nil {
		return nil, fmt.Errorf("read the run's keys: %w", err)
	}
	signer, err := ssh.ParsePrivateKey([]byte(r.keys.Login.Private))
	if err != nil {
		return nil, fmt.Errorf("read the run's keys: %w", err)
	}
	r.key = remote.KeyPair{Signer: signer, AuthorizedKey: r.keys.Login.Public, PEM: []byte(r.keys.Login.Private)}
	if r.keys.Hosts == nil {
		r.keys.Hosts = map[string]storedKey{}
	}
	return r, nil
}

type sshRemote struct {
	SSH
	key remote.KeyPair

	mu   sync.Mutex
	keys sshKeys
	left map[string]*remote.Leftovers // on machines that are lent, by region
}

// sshKeys is the form of Secrets.
type sshKeys struct {
	Login storedKey            `json:"login"`
	Hosts map[string]storedKey `json:"hosts"` // by region id
}

// storedKey is kept to the byte: EC2 takes a launch for the same only if it is.
type storedKey struct {
	Private string `json:"private"` // as OpenSSH writes it
	Public  string `json:"public"`  // authorized_keys line
}

func (r *sshRemote) AuthorizedKey() string { return r.key.AuthorizedKey }

func (r *sshRemote) HostKey(region string) ([]byte, string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k, ok := r.keys.Hosts[region]; ok {
		return []byte(k.Private), k.Public, nil
	}
	key, err := remote.NewKeyPair(providers.Name(r.RunID))
	if err != nil {
		return nil, "", err
	}
	r.keys.Hosts[region] = storedKey{string(key.PEM), key.AuthorizedKey}
	return key.PEM, key.AuthorizedKey, nil
}

func (r *sshRemote) Secrets() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return json.Marshal(r.keys)
}

func (r *sshRemote) Connect(ctx context.Context, m providers.Machine) (Conn, error) {
	o := remote.Options{Key: r.key.Signer, Dial: r.Dial, Linger: r.Linger}
	if m.Lent && r.Lent == nil {
		return nil, fmt.Errorf("connect to %s: nobody said how to log in to machines that are lent", m.Region)
	}
	if m.Lent {
		keys, err := r.Lent(m)
		if err != nil {
			return nil, err
		}
		o.Key, o.Keys, o.Booted = nil, keys, true
		o.Leftovers, o.InsistTimeout = r.leftovers(m.Region), insistLimit
	}
	conn, err := remote.Connect(ctx, remote.Target{
		Name:    cmp.Or(m.ID, m.Region),
		Addr:    netip.AddrPortFrom(m.Public, uint16(cmp.Or(m.SSHPort, sshPort))),
		User:    m.User,
		HostKey: m.HostKey,
	}, o)
	if err != nil {
		return nil, err
	}
	return &sshConn{conn, r.Probes, m.Lent}, nil
}

// insistLimit is how long a lent machine, whose connection is lost before what was
// pushed is removed, is dialled for that alone: it is not ours to leave files on.
const insistLimit = 10 * time.Second

// leftovers are those of all connections to a machine.
func (r *sshRemote) leftovers(region string) *remote.Leftovers {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left[region] == nil {
		r.left[region] = &remote.Leftovers{}
	}
	return r.left[region]
}

type sshConn struct {
	*remote.Conn
	probes remote.Probes
	tidy   bool // leave no file, even if this process is killed
}

func (c *sshConn) Push(ctx context.Context) (string, error) { return c.Conn.Push(ctx, c.probes) }

func (c *sshConn) StartAgent(ctx context.Context, path string) (Agent, error) {
	agent, err := c.Conn.StartAgent(ctx, path)
	if err != nil {
		return nil, err
	}
	if c.tidy {
		if err := c.Tidy(); err != nil {
			return nil, errors.Join(err, agent.Close())
		}
	}
	return agent, nil
}
