package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/antipode-bench/antipode"
)

// entry is a host as the file has it.
type entry struct {
	Name       string   `yaml:"name"`
	Address    string   `yaml:"address"`
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
	optionalKeys = []string{"port", "key", "agent", "known_hosts", "host_key", "at", "latitude", "longitude", "private", "probe_port"}
)

type parser struct {
	path  string
	env   Environment
	hosts []Host
	first map[string]int // where a name, or an address with its probe port, was first seen
	errs  []error
}

func (p *parser) errorf(line int, format string, args ...any) {
	at := p.path
	if line > 0 {
		at = fmt.Sprintf("%s:%d", p.path, line)
	}
	p.errs = append(p.errs, fmt.Errorf("%s: %w", at, fmt.Errorf(format, args...)))
}

// list returns the nodes under the only key the file may have, "hosts".
func (p *parser) list(data []byte) []*yaml.Node {
	var root yaml.Node
	if err := yaml.Load(data, &root); err != nil {
		p.yamlError(0, err)
		return nil
	}
	top := &root
	if root.Kind == yaml.DocumentNode && len(root.Content) == 1 {
		top = root.Content[0]
	}
	if _, ok := p.keys(top, "the file", []string{"hosts"}, nil); !ok {
		return nil
	}
	hosts := top.Content[1]
	if hosts.Kind != yaml.SequenceNode || len(hosts.Content) == 0 {
		p.errorf(hosts.Line, "hosts must be a list of at least one host")
		return nil
	}
	return hosts.Content
}

// host reads one host. Its errors name the line of the key they are about.
func (p *parser) host(n *yaml.Node) {
	lines, ok := p.keys(n, "a host", requiredKeys, optionalKeys)
	if !ok {
		return
	}
	var e entry
	if err := n.Load(&e, yaml.WithKnownFields()); err != nil {
		p.yamlError(n.Line, err)
		return
	}
	before := len(p.errs)
	h := Host{
		Address:   p.address(lines["address"], "address", e.Address),
		SSHPort:   p.port(lines, "port", e.Port, 22),
		User:      e.User,
		ProbePort: p.port(lines, "probe_port", e.ProbePort, 0),
		Region:    p.region(lines, e),
	}
	if _, given := lines["private"]; given {
		h.Private = p.address(lines["private"], "private", e.Private)
	}
	p.names(lines, e, h)
	if len(p.errs) > before {
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
		p.errorf(lines["name"], "name %q must be lower-case letters, digits and hyphens", e.Name)
	}
	if !userForm.MatchString(e.User) {
		p.errorf(lines["user"], "user %q is not a log-in name", e.User)
	}
	p.once(lines["name"], e.Name, fmt.Sprintf("host %q", e.Name))
	if h.Address.IsValid() {
		// Behind one address may be several hosts, by port.
		p.once(lines["address"], fmt.Sprint(h.Address, h.ProbePort), fmt.Sprintf("address %v with this probe_port", h.Address))
	}
}

// once refuses what an earlier line has too.
func (p *parser) once(line int, key, what string) {
	if first, dup := p.first[key]; dup {
		p.errorf(line, "%s is already on line %d", what, first)
		return
	}
	p.first[key] = line
}

func (p *parser) address(line int, key, text string) netip.Addr {
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is4() || a.IsUnspecified() || a.IsMulticast() {
		p.errorf(line, "%s %q is not the IPv4 address of a host", key, text)
		return netip.Addr{}
	}
	return a
}

// port is usual where the file has none.
func (p *parser) port(lines map[string]int, key string, n, usual int) int {
	if _, given := lines[key]; !given {
		return usual
	}
	if n < 1 || n > 65535 {
		p.errorf(lines[key], "%s %d is not 1 to 65535", key, n)
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
		p.errorf(lines["at"], "at %q and coordinates: one of them says where the host stands", e.At)
	case lines["at"] > 0:
		known, ok := antipode.Find(p.env.Regions, e.At)
		if !ok {
			p.errorf(lines["at"], "at %q is not a known region, such as aws:us-east-1", e.At)
		}
		r.Place, r.Country, r.Confidence = known.Place, known.Country, known.Confidence
		r.Latitude, r.Longitude = known.Latitude, known.Longitude
	case !placed:
		r.Unplaced = true
	case e.Latitude == nil || e.Longitude == nil:
		p.errorf(max(lines["latitude"], lines["longitude"]), "latitude and longitude: both or none")
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
		p.errorf(line, "%s %v is outside -%v to %v", key, degrees, limit, limit)
	}
}

// keys returns the line of every key of a mapping; ok is false unless they are
// known ones, each once, with every required one among them.
func (p *parser) keys(n *yaml.Node, what string, required, optional []string) (lines map[string]int, ok bool) {
	if n.Kind != yaml.MappingNode {
		p.errorf(n.Line, "%s must be a mapping of %s", what, strings.Join(required, ", "))
		return nil, false
	}
	before := len(p.errs)
	known := slices.Concat(required, optional)
	lines = map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		_, twice := lines[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			p.errorf(key.Line, "unknown key %q, want one of %s", key.Value, strings.Join(known, ", "))
		case twice:
			p.errorf(key.Line, "key %q is there twice", key.Value)
		}
		lines[key.Value] = key.Line
	}
	for _, key := range required {
		if _, there := lines[key]; !there {
			p.errorf(n.Line, "%s lacks %q", what, key)
		}
	}
	return lines, len(p.errs) == before
}

// yamlError records an error of the YAML library, which knows the line better
// than the caller when it says one.
func (p *parser) yamlError(line int, err error) {
	if several, ok := errors.AsType[*yaml.LoadErrors](err); ok && len(several.Errors) > 0 {
		for _, e := range several.Errors {
			p.yamlError(line, e)
		}
		return
	}
	one, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		p.errorf(line, "%w", err)
		return
	}
	if one.Mark.Line > 0 {
		line = one.Mark.Line
	}
	p.errorf(line, "%s", one.Message)
}
