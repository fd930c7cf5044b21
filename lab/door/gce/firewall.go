package gce

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/antipode-bench/antipode/lab/vm"
)

// maxSources is how many source ranges a rule takes.
const maxSources = 256

type firewall struct {
	firewallJSON
	created time.Time
	builtin bool
	busy    bool
}

type firewallJSON struct {
	meta
	Network    string        `json:"network,omitempty"`
	Priority   *int          `json:"priority,omitempty"`
	Sources    []string      `json:"sourceRanges,omitempty"`
	TargetTags []string      `json:"targetTags,omitempty"`
	Allowed    []allowedJSON `json:"allowed,omitempty"`
	Direction  string        `json:"direction,omitempty"`
	Disabled   bool          `json:"disabled"`
	LogConfig  *logJSON      `json:"logConfig,omitempty"`
}

type allowedJSON struct {
	Protocol string   `json:"IPProtocol"`
	Ports    []string `json:"ports,omitempty"`
}

type logJSON struct {
	Enable bool `json:"enable"`
}

func (q *request) insertFirewall() (any, error) {
	var in firewallJSON
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	if err := checkName(in.Name); err != nil {
		return nil, err
	}
	d := q.door
	if d.firewalls[in.Name] != nil {
		return nil, alreadyExists(d.path("global", "firewalls", in.Name))
	}
	n, err := d.networkAt("resource.network", cmp.Or(in.Network, "global/networks/default"))
	if err != nil {
		return nil, err
	}
	in.Network = n.SelfLink
	f := &firewall{busy: true, firewallJSON: in}
	if err := f.complete(); err != nil {
		return nil, err
	}
	f.meta, f.created = d.newMeta("firewall", in.Name, in.About, "global", "firewalls", in.Name)
	d.firewalls[f.Name] = f
	return q.operate("insert", f.meta, func(ctx context.Context) *flop {
		d.ready(&f.busy)(ctx)
		d.refresh(f.Network)
		return nil
	}), nil
}

// complete fills in what is left out and checks the rest.
func (f *firewallJSON) complete() error {
	f.Direction = cmp.Or(f.Direction, "INGRESS")
	if f.Direction != "INGRESS" {
		return invalidField("resource.direction", f.Direction, "The lab lets everything out: only INGRESS rules mean something.")
	}
	if f.Priority == nil {
		f.Priority = new(int)
		*f.Priority = 1000
	}
	if *f.Priority < 0 || *f.Priority > 65535 {
		return invalidField("resource.priority", *f.Priority, "Must be between 0 and 65535.")
	}
	if len(f.Sources) == 0 {
		f.Sources = []string{"0.0.0.0/0"}
	}
	if len(f.Allowed) == 0 {
		return required("resource.allowed")
	}
	for _, tag := range f.TargetTags {
		if !resourceName.MatchString(tag) {
			return invalidField("resource.targetTags", tag, "Must be a match of the regex for names.")
		}
	}
	if _, err := f.sources(); err != nil {
		return err
	}
	for _, a := range f.Allowed {
		if _, err := a.rules(nil); err != nil {
			return err
		}
	}
	return nil
}

// sources reads the ranges, which must be of one address family.
func (f *firewallJSON) sources() ([]netip.Prefix, error) {
	const field = "resource.sourceRanges"
	if len(f.Sources) > maxSources {
		return nil, invalidField(field, len(f.Sources), "Too many: at most "+strconv.Itoa(maxSources)+".")
	}
	var list []netip.Prefix
	for _, s := range f.Sources {
		p, err := netip.ParsePrefix(s)
		if addr, addrErr := netip.ParseAddr(s); addrErr == nil {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil || p != p.Masked() {
			return nil, invalidField(field, s, "Must be a CIDR range.")
		}
		if len(list) > 0 && list[0].Addr().Is4() != p.Addr().Is4() {
			return nil, invalidField(field, s, "IPv4 and IPv6 ranges cannot be in one rule.")
		}
		list = append(list, p)
	}
	return list, nil
}

func (a allowedJSON) rules(sources []netip.Prefix) ([]vm.Rule, error) {
	protocol := strings.ToLower(a.Protocol)
	if name, ok := map[string]string{"6": "tcp", "17": "udp", "1": "icmp"}[protocol]; ok {
		protocol = name
	}
	rule := vm.Rule{Protocol: protocol, Sources: sources}
	switch {
	case !slices.Contains([]string{"tcp", "udp", "icmp", "all"}, protocol):
		return nil, invalidField("resource.allowed[0].IPProtocol", a.Protocol, "The lab carries tcp, udp, icmp and all.")
	case protocol == "icmp" || protocol == "all":
		if len(a.Ports) > 0 {
			return nil, invalidField("resource.allowed[0].ports", a.Ports[0], "Ports can be used with TCP and UDP only.")
		}
		return []vm.Rule{rule}, nil
	case len(a.Ports) == 0:
		rule.ToPort = 65535
		return []vm.Rule{rule}, nil
	}
	var rules []vm.Rule
	for _, ports := range a.Ports {
		first, last, isRange := strings.Cut(ports, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		if err1 != nil || err2 != nil || from > to {
			return nil, invalidField("resource.allowed[0].ports[0]", ports, "Ports may only be port numbers or port ranges.")
		}
		rule.FromPort, rule.ToPort = uint16(from), uint16(to)
		rules = append(rules, rule)
	}
	return rules, nil
}

func (q *request) firewall() (*firewall, error) {
	if f := q.door.firewalls[q.PathValue("name")]; f != nil {
		return f, nil
	}
	return nil, notFound(q.door.path("global", "firewalls", q.PathValue("name")))
}

func (q *request) getFirewall() (any, error) {
	f, err := q.firewall()
	if err != nil {
		return nil, err
	}
	return f.firewallJSON, nil
}

func (q *request) listFirewalls() (any, error) {
	var all []entry
	for _, name := range slices.Sorted(maps.Keys(q.door.firewalls)) {
		all = append(all, entry{value: q.door.firewalls[name].firewallJSON})
	}
	return q.list("firewallList", all)
}

// patchFirewall replaces the fields that are given; lists as a whole.
func (q *request) patchFirewall() (any, error) {
	f, err := q.firewall()
	if err != nil {
		return nil, err
	}
	d := q.door
	if f.busy {
		return nil, notReady(d.path("global", "firewalls", f.Name))
	}
	changed := f.firewallJSON.clone()
	if err := q.decode(&changed); err != nil {
		return nil, err
	}
	changed.meta = f.meta
	n, err := d.networkAt("resource.network", changed.Network)
	if err != nil {
		return nil, err
	}
	if n.SelfLink != f.Network {
		return nil, invalidField("resource.network", changed.Network, "Network cannot be changed.")
	}
	changed.Network = f.Network
	if err := changed.complete(); err != nil {
		return nil, err
	}
	f.busy = true
	return q.operate("patch", f.meta, func(context.Context) *flop {
		d.mu.Lock()
		f.firewallJSON, f.busy = changed, false
		d.mu.Unlock()
		d.refresh(f.Network)
		return nil
	}), nil
}

// clone is a deep copy: a patch that is refused half-way must leave no trace.
func (f firewallJSON) clone() firewallJSON {
	var out firewallJSON
	raw, err := json.Marshal(f)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic(err) // what came from JSON goes back to it
	}
	return out
}

func (q *request) deleteFirewall() (any, error) {
	f, err := q.firewall()
	if err != nil {
		return nil, err
	}
	d := q.door
	if f.busy {
		return nil, notReady(d.path("global", "firewalls", f.Name))
	}
	f.busy = true
	return q.operate("delete", f.meta, func(context.Context) *flop {
		d.mu.Lock()
		delete(d.firewalls, f.Name)
		d.mu.Unlock()
		d.refresh(f.Network)
		return nil
	}), nil
}

// refresh brings the machines of a network up to date and returns when its
// rules hold. It must not be called with the door locked.
func (d *Door) refresh(network string) {
	d.mu.Lock()
	var members []*instance
	for _, project := range d.projects {
		for _, i := range project.instances {
			if i.Interfaces[0].Network == network && i.machine != nil {
				members = append(members, i)
			}
		}
	}
	d.mu.Unlock()
	for _, i := range members {
		i.machine.Refresh()
	}
}

// rulesOf is what the firewall lets in to an instance, for the hypervisor.
func (d *Door) rulesOf(i *instance) []vm.Rule {
	var rules []vm.Rule
	d = d.owner(i.Interfaces[0].Network)
	for _, name := range slices.Sorted(maps.Keys(d.firewalls)) {
		f := d.firewalls[name]
		if f.Network != i.Interfaces[0].Network || f.Disabled || !f.targets(i) {
			continue
		}
		sources, err := f.sources()
		for _, a := range f.Allowed {
			var more []vm.Rule
			if more, err = a.rules(sources); err == nil {
				rules = append(rules, more...)
			}
		}
		if err != nil { // it was checked when it came in
			d.log.Error("firewall rule passed over", "name", name, "err", err)
		}
	}
	return rules
}

func (f *firewall) targets(i *instance) bool {
	if len(f.TargetTags) == 0 {
		return true
	}
	return i.Tags != nil && slices.ContainsFunc(f.TargetTags, func(t string) bool { return slices.Contains(i.Tags.Items, t) })
}
