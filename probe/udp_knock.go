//go:build linux

package probe

import (
	"errors"
	"net/netip"
	"sync"
)

// maxUDPSessions is how many UDP throughput tests a server takes part in at a
// time: more would only measure each other, and each remembers megabytes.
const maxUDPSessions = 8

// knock is a session that waits to learn which port its datagrams come from.
type knock struct {
	id   sessionID
	key  mac
	addr netip.Addr          // of the client: its datagrams come from nowhere else
	from chan netip.AddrPort // takes one
}

// knocks are the UDP throughput sessions of a server.
type knocks struct {
	mu sync.Mutex
	by map[sessionID]*knock
}

func (k *knocks) add(s *knock) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.by) >= maxUDPSessions {
		return errors.New("busy with other UDP throughput tests")
	}
	if k.by == nil {
		k.by = map[sessionID]*knock{}
	}
	k.by[s.id] = s
	return nil
}

func (k *knocks) remove(id sessionID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.by, id)
}

// take is true for a knock, whoever sent it. Only a session's own is heard, and
// none is answered.
func (k *knocks) take(data []byte, from netip.AddrPort) bool {
	id, ok := knockOf(data)
	if !ok {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.by[id]
	if s == nil || s.addr.WithZone("") != from.Addr().Unmap().WithZone("") || !isKnock(data, id, s.key) {
		return true
	}
	select {
	case s.from <- netip.AddrPortFrom(s.addr, from.Port()):
	default: // heard before
	}
	return true
}

func (k *knocks) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.by)
}
