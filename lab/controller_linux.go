package lab

import (
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/antipode-bench/antipode/lab/hypervisor"
	"github.com/antipode-bench/antipode/lab/machine"
	"github.com/antipode-bench/antipode/lab/router"
	"github.com/antipode-bench/antipode/lab/router/link"
)

// Names of the controller's place and its devices.
const (
	controllerID   = "controller"
	controllerLink = "ctl0"
	controllerVeth = "ctl1" // the router's end
)

// controllerMAC of a veth link is local, unicast, and no machine's.
var controllerMAC = net.HardwareAddr{0x02, 0x61, 0x70, 0, 0, 1}

// connectController gives this process's namespace its place in the lab's
// internet. Nobody may open a flow to it: no rules are set.
func connectController(r *router.Router, kind link.Kind) error {
	l, err := openControllerLink(kind)
	if err != nil {
		return fmt.Errorf("controller's place: %w", err)
	}
	addr := hypervisor.ControllerAddress()
	if err := r.Attach(router.Endpoint{ID: controllerID, Addrs: []netip.Addr{addr}}, l); err != nil {
		return err
	}
	inside := machine.Link{
		Kind: string(kind), Name: controllerLink, MTU: link.MTU, Public: addr,
		PeerMAC: link.RouterMAC().String(),
	}
	if err := inside.Up(); err != nil {
		return fmt.Errorf("controller's place: %w", err)
	}
	return nil
}

func openControllerLink(kind link.Kind) (*link.Link, error) {
	if kind == link.TUN {
		return link.OpenTUN(controllerLink)
	}
	if err := hypervisor.MakeVeth(controllerVeth, controllerLink, controllerMAC, nil); err != nil {
		return nil, err
	}
	return link.OpenVeth(controllerVeth, controllerMAC)
}

// setSysctls sets what is wanted, not needed: a masked /proc/sys forbids it.
func setSysctls() {
	for _, s := range innerSysctls {
		err := os.WriteFile("/proc/sys/net/"+s.name, []byte(s.value), 0o644)
		if err != nil && !os.IsNotExist(err) {
			fmt.Fprintf(os.Stderr, "lab: %v: %s\n", err, s.without)
		}
	}
}

var innerSysctls = []struct{ name, value, without string }{
	{"ipv4/tcp_orphan_retries", "1", "unsent data may keep the dead namespace for two minutes"},
	{"ipv6/conf/all/disable_ipv6", "1", "devices send router solicitations into the lab"},
	{"ipv6/conf/default/disable_ipv6", "1", "devices send router solicitations into the lab"},
}
