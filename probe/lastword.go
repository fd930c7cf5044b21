//go:build linux

package probe

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// lastWord is what the responder tells at the end of a session.
type lastWord struct {
	echoed
	held []uint32 // see echo.held
}

// wrongWord is a last word that can't be true.
type wrongWord struct{ error }

// hear waits for the peer's last word: the time it held each query, then its
// counts. Every line has silenceLimit, from when watch says that they are due.
func (p *pinger) hear() (*lastWord, error) {
	var w lastWord
	for {
		n, err := p.ctl.read()
		switch {
		case err != nil:
			return nil, err
		case n.Echoed != nil:
			w.echoed = *n.Echoed
			if err := w.check(p.sentSoFar()); err != nil {
				return nil, err
			}
			return &w, nil
		case len(n.Held) == 0:
			return nil, &wrongWord{errNoProbe}
		case len(w.held)+len(n.Held) > len(p.probes):
			return nil, &wrongWord{errors.New("peer held more queries than were sent")}
		}
		w.held = append(w.held, n.Held...)
		p.ctl.conn.SetReadDeadline(time.Now().Add(silenceLimit))
	}
}

func (t *trips) sentSoFar() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent
}

// check holds a responder's counts against what was sent.
func (w *lastWord) check(sent int) error {
	if w.Answered < 0 || w.Answered > sent || w.Reordered < 0 || w.Reordered > w.Answered || w.Duplicates < 0 || w.ClockErrorUs < -1 {
		return &wrongWord{fmt.Errorf("peer's counts can't be of %d probes: %+v", sent, w.echoed)}
	}
	return nil
}

// sending is what the responder's kernel needs from the call that sends an answer
// to its departure; 0 if that is not known.
func (w *lastWord) sending() time.Duration {
	if w == nil {
		return 0
	}
	return time.Duration(w.SendingNs)
}

// clocks is the sum of what both machines' time daemons say that their clocks
// are wrong by at most, 0 if one says nothing.
func (w *lastWord) clocks() time.Duration {
	mine, ok := clockError()
	if !ok || w.ClockErrorUs < 0 {
		return 0
	}
	return mine + time.Duration(w.ClockErrorUs)*time.Microsecond
}

// kindOf says what kind of address a machine is reached at, given the one it
// has itself; empty if either is not known.
func kindOf(used, own netip.Addr) string {
	used, own = used.Unmap().WithZone(""), own.Unmap().WithZone("")
	switch {
	case !used.IsValid() || !own.IsValid():
		return ""
	case used != own:
		return wire.AddressNAT
	case used.IsLoopback():
		return wire.AddressLoopback
	case used.IsLinkLocalUnicast():
		return wire.AddressLinkLocal
	case used.IsPrivate() || sharedSpace.Contains(used):
		return wire.AddressPrivate
	}
	return wire.AddressPublic
}

// sharedSpace is that of carriers' address translators: RFC 6598.
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")
