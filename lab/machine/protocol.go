package machine

import "net/netip"

// ControlFD is the inherited descriptor of the SOCK_SEQPACKET Unix socket to
// the hypervisor. One JSON value is one packet. The hypervisor sends one Boot;
// the machine sends Reports. When the other end closes, the machine powers off.
const ControlFD = 3

// Boot is everything a machine is told.
type Boot struct {
	ID             string   `json:"id"`
	Hostname       string   `json:"hostname"`
	User           string   `json:"user"`
	AuthorizedKeys []string `json:"authorized_keys"`
	HostKeyPEM     []byte   `json:"host_key_pem,omitempty"` // empty: make one, report it
	BootCommands   []string `json:"boot_commands,omitempty"`
	BootDelayMs    float64  `json:"boot_delay_ms,omitempty"`
	NeverBoot      bool     `json:"never_boot,omitempty"`
	RefuseSSH      bool     `json:"refuse_ssh,omitempty"`
	Link           Link     `json:"link"`
}

// Link kinds.
const (
	LinkTUN  = "tun"
	LinkVeth = "veth"
)

// Link is the machine's way to the router.
type Link struct {
	// Kind is LinkTUN: the machine makes a TUN device (IFF_VNET_HDR, TSO4/6 and
	// USO where the kernel has it) in its own namespace and hands its descriptor,
	// which is non-blocking and fails with EIO while the link is down,
	// back with the "link" report; or LinkVeth: the hypervisor has moved the
	// machine's end, named Name, into the namespace already.
	Kind    string     `json:"kind"`
	Name    string     `json:"name"` // interface name inside, for example "eth0"
	MTU     int        `json:"mtu"`
	Public  netip.Addr `json:"public"`
	Private netip.Addr `json:"private"`
	IPv6    netip.Addr `json:"ipv6,omitzero"` // a public one beside the others; may be invalid
	// PeerMAC is the router's end's hardware address (veth only): ARP is off,
	// the neighbour of the default route is set by hand.
	PeerMAC string `json:"peer_mac,omitempty"`
}

// Report kinds.
const (
	ReportLink    = "link"     // the link is plugged in and comes up once BootDelayMs are over; with LinkTUN the descriptor rides along (SCM_RIGHTS)
	ReportBooted  = "booted"   // sshd listens, unless RefuseSSH
	ReportHostKey = "host-key" // HostKey holds the public half
	ReportFailed  = "failed"   // Error says why; the machine ends
	ReportHalted  = "halted"   // powering off by itself
)

// Report is one packet from the machine.
type Report struct {
	Kind    string `json:"kind"`
	HostKey string `json:"host_key,omitempty"` // authorized_keys line
	Error   string `json:"error,omitempty"`
}
