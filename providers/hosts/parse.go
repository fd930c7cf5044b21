package hosts

import (
	"fmt"
	"net/netip"
	"regexp"

	"go.yaml.in/yaml/v4"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/strictyaml"
)

// entry is a host as the file has it.
type entry struct {
	Name       string   `yaml:"name"`
	Address    string   `yaml:"address"`
	Address6   string   `yaml:"address6"`
	Private    string   `yaml:"private"`
	Port       int      `yaml:"port"`
	User       string   `yaml:"user"`
	Key        string   `yaml:"key"`
	Agent      bool     `yaml:"agent"`
	KnownHosts string   `yaml:"known_hosts"`
	HostKey    string   `yaml:"host_key"`
	At         string   `yaml:"at"`
	Latitude   *float64 `yaml:"latitude"`
	Longitude  *float64 `yaml:"longitude"`
	ProbePort  int      `yaml:"probe_port"`
}

var (
	requiredKeys = []string{"name", "address", "user"}
	optionalKeys = []string{"port", "key", "agent", "known_hosts", "host_key", "at", "latitude", "longitude", "address6", "private", "probe_port"}
)

type parser struct {
	strictyaml.File
	env   Environment
	hosts []Host
	first map[string]int // where a name, or an address with its probe port, was first seen
}

// host reads one host. Its errors name the line of the key they are about.
func (p *parser) host(n *yaml.Node) {
	lines, ok := p.Keys(n, "a host", requiredKeys, optionalKeys)
	if !ok {
		return
	}
	var e entry
	if !p.Load(n, &e) {
		return
	}
	before := len(p.Errors())
	h := Host{
		Address:   p.address(lines["address"], "address", e.Address, anyVersion),
		SSHPort:   p.port(lines, "port", e.Port, 22),
		User:      e.User,
		ProbePort: p.port(lines, "probe_port", e.ProbePort, 0),
		Region:    p.region(lines, e),
	}
	if _, given := lines["private"]; given {
		h.Private = p.address(lines["private"], "private", e.Private, version4)
	}
	h.IPv6 = p.ipv6(lines, e, h.Address)
	p.names(lines, e, h)
	if len(p.Errors()) > before {
		return // the way in is looked for under the address
	}
	h.Signers = p.signers(lines, e)
	h.HostKeys = p.hostKeys(lines, e, h)
	p.hosts = append(p.hosts, h)
}

// nameForm goes into CSV, file names and flags.
var (
	nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	userForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$`)
)

// names checks what identifies a host, and that no other has it.
func (p *parser) names(lines map[string]int, e entry, h Host) {
	if !nameForm.MatchString(e.Name) {
		p.Errorf(lines["name"], "name %q must be lower-case letters, digits and hyphens", e.Name)
	}
	if !userForm.MatchString(e.User) {
		p.Errorf(lines["user"], "user %q is not a log-in name", e.User)
	}
	p.once(lines["name"], e.Name, fmt.Sprintf("host %q", e.Name))
	if h.Address.IsValid() {
		// Behind one address may be several hosts, by port.
		p.once(lines["address"], fmt.Sprint(h.Address, h.ProbePort), fmt.Sprintf("address %v with this probe_port", h.Address))
	}
	if h.IPv6.IsValid() && h.IPv6 != h.Address {
		p.once(lines["address6"], fmt.Sprint(h.IPv6, h.ProbePort), fmt.Sprintf("address %v with this probe_port", h.IPv6))
	}
}

// once refuses what an earlier line has too.
func (p *parser) once(line int, key, what string) {
	if first, dup := p.first[key]; dup {
		p.Errorf(line, "%s is already on line %d", what, first)
		return
	}
	p.first[key] = line
}

// version is the one of IP that an address is of, in the words of an error.
type version string

const (
	anyVersion version = "IP"
	version4   version = "IPv4"
	version6   version = "IPv6"
)

func (v version) has(a netip.Addr) bool {
	return v == anyVersion || (v == version6) == a.Is6()
}

func (p *parser) address(line int, key, text string, v version) netip.Addr {
	a, err := netip.ParseAddr(text)
	if err != nil || !v.has(a) || a.Is4In6() || a.Zone() != "" || a.IsUnspecified() || a.IsMulticast() {
		p.Errorf(line, "%s %q is not the %s address of a host", key, text, v)
		return netip.Addr{}
	}
	return a
}

// ipv6 is the host's address for whom that is the version of IP: address6, or
// the one it is logged in to.
func (p *parser) ipv6(lines map[string]int, e entry, address netip.Addr) netip.Addr {
	line, given := lines["address6"]
	switch {
	case given && address.Is6():
		p.Errorf(line, "address6 %q beside address %v, which is one of IPv6 already", e.Address6, address)
	case given:
		return p.address(line, "address6", e.Address6, version6)
	case address.Is6():
		return address
	}
	return netip.Addr{}
}

// port is usual where the file has none.
func (p *parser) port(lines map[string]int, key string, n, usual int) int {
	if _, given := lines[key]; !given {
		return usual
	}
	if n < 1 || n > 65535 {
		p.Errorf(lines[key], "%s %d is not 1 to 65535", key, n)
	}
	return n
}

// region is where the host stands: at a known region, at coordinates, or nobody
// knows where.
func (p *parser) region(lines map[string]int, e entry) antipode.Region {
	r := antipode.Region{Cloud: Cloud, Name: e.Name}
	placed := e.Latitude != nil || e.Longitude != nil
	switch {
	case lines["at"] > 0 && placed:
		p.Errorf(lines["at"], "at %q and coordinates: one of them says where the host stands", e.At)
	case lines["at"] > 0:
		known, ok := antipode.Find(p.env.Regions, e.At)
		if !ok {
			p.Errorf(lines["at"], "at %q is not a known region, such as aws:us-east-1", e.At)
		}
		r.Place, r.Country, r.Confidence = known.Place, known.Country, known.Confidence
		r.Latitude, r.Longitude = known.Latitude, known.Longitude
	case !placed:
		r.Unplaced = true
	case e.Latitude == nil || e.Longitude == nil:
		p.Errorf(max(lines["latitude"], lines["longitude"]), "latitude and longitude: both or none")
	default:
		r.Latitude, r.Longitude = *e.Latitude, *e.Longitude
		p.within(lines["latitude"], "latitude", r.Latitude, 90)
		p.within(lines["longitude"], "longitude", r.Longitude, 180)
	}
	return r
}

// within refuses NaN too.
func (p *parser) within(line int, key string, degrees, limit float64) {
	if !(degrees >= -limit && degrees <= limit) {
		p.Errorf(line, "%s %v is outside -%v to %v", key, degrees, limit, limit)
	}
}
