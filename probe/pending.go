//go:build linux

package probe

import (
	"net"
	"slices"
	"sync"
)

// maxPending is how many connections may be open without having proved the
// secret. One more ends the oldest, so that strangers who hold theirs open
// lock nobody out.
const maxPending = 512

// pending is the connections that have not proved the secret yet, oldest first.
type pending struct {
	mu    sync.Mutex
	conns []*net.TCPConn
}

// add takes one in; the returned function, safe to call twice, takes it out.
func (p *pending) add(conn *net.TCPConn) (proved func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.conns) >= maxPending {
		abort(p.conns[0])
		p.conns = slices.Delete(p.conns, 0, 1)
	}
	p.conns = append(p.conns, conn)
	return func() { p.remove(conn) }
}

func (p *pending) remove(conn *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.conns, conn); i >= 0 {
		p.conns = slices.Delete(p.conns, i, i+1)
	}
}
