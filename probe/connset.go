//go:build linux

package probe

import (
	"errors"
	"net"
	"sync"
)

var errStreamTaken = errors.New("no such stream left to open")

// connSet is the data connections of one test, as they come.
type connSet struct {
	mu    sync.Mutex
	conns []*net.TCPConn // by stream; nil: not open yet
	shut  bool           // no more connections are taken
}

// attach takes a connection, once per stream.
func (s *connSet) attach(stream int, conn *net.TCPConn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut || stream >= len(s.conns) || s.conns[stream] != nil {
		return errStreamTaken
	}
	s.conns[stream] = conn
	return nil
}

// all is the connections, when every stream has one.
func (s *connSet) all() ([]*net.TCPConn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		if c == nil {
			return nil, false
		}
	}
	return s.conns, true
}

// close ends every stream. Safe to call twice.
func (s *connSet) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut = true
	for _, c := range s.conns {
		if c != nil {
			abort(c)
		}
	}
}
