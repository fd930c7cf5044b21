package machine

import (
	"errors"
	"fmt"
	"strings"
)

// userNameBytes are what useradd accepts; a name becomes a folder below /home.
const userNameBytes = "abcdefghijklmnopqrstuvwxyz0123456789_-"

// validate says what is wrong with b before anything is done with it.
func (b Boot) validate() error {
	switch {
	case b.ID == "":
		return errors.New("boot: no id")
	case b.User == "" || len(b.User) > 32 || strings.Trim(b.User, userNameBytes) != "":
		return fmt.Errorf("boot: bad user name %q", b.User)
	case b.BootDelayMs < 0:
		return fmt.Errorf("boot: negative delay %g ms", b.BootDelayMs)
	}
	return b.Link.validate()
}

func (l Link) validate() error {
	switch {
	case l.Kind != LinkTUN && l.Kind != LinkVeth:
		return fmt.Errorf("link: unknown kind %q", l.Kind)
	case l.Name == "" || len(l.Name) > 15: // IFNAMSIZ less the final zero
		return fmt.Errorf("link: bad interface name %q", l.Name)
	case l.MTU < 576 || l.MTU > 65535:
		return fmt.Errorf("link: MTU %d is not within 576 to 65535", l.MTU)
	case !l.Public.IsValid() && !l.Private.IsValid():
		return errors.New("link: no address")
	case l.IPv6.IsValid() && (!l.IPv6.Is6() || l.MTU < 1280): // RFC 8200 section 5
		return fmt.Errorf("link: IPv6 address %s with MTU %d", l.IPv6, l.MTU)
	case l.Kind == LinkVeth && l.PeerMAC == "":
		return errors.New("link: veth without the peer's MAC")
	}
	return nil
}
