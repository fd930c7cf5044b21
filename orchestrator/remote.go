package orchestrator

import (
	"context"

	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
)

// Remote reaches the machines of one run. It is safe for concurrent use. A ctx
// limits the call it is given to, not the life of what the call returns. When a
// call of a Conn has failed because the connection is lost, its Done is closed.
type Remote interface {
	// AuthorizedKey is the run's public key, one authorized_keys line.
	AuthorizedKey() string

	// HostKey makes the host key of a region's machine, the same at every call:
	// the OpenSSH private key to inject and its public half, one
	// authorized_keys line.
	HostKey(region string) (private []byte, public string, err error)

	// Secrets are what another process needs to be this Remote: the run's
	// private key and the host keys made so far.
	Secrets() ([]byte, error)

	// Connect opens the one connection to m. It tries again until SSH answers
	// or ctx ends; another host key than m.HostKey is an error at once.
	Connect(ctx context.Context, m providers.Machine) (Conn, error)
}

// Conn is a connection to a machine.
type Conn interface {
	// Push brings the probe there and returns its path.
	Push(ctx context.Context) (path string, err error)

	// Tune raises the limits of the machine's kernel until the connection ends.
	Tune(ctx context.Context, t remote.Tuning) ([]remote.Setting, error)

	// StartAgent runs the probe at path as an agent, which lives as long as
	// the connection.
	StartAgent(ctx context.Context, path string) (Agent, error)

	// Done is closed when the connection is lost, or closed.
	Done() <-chan struct{}

	// Close ends the connection and the agent, within a time limit of its own.
	Close() error
}

// Agent measures from its machine. It is safe for concurrent use.
type Agent interface {
	// Call asks and waits for the answer, choosing the request's ID. A request
	// that failed is an error, beside what it measured until then. When ctx ends
	// first it tells the agent to stop what was asked, and returns.
	Call(ctx context.Context, req wire.Request) (wire.Response, error)

	// Hello is what the agent said of itself and its machine.
	Hello() wire.Hello

	// Done is closed when the agent can't answer any more.
	Done() <-chan struct{}

	// Err is why, once Done is closed.
	Err() error
}
