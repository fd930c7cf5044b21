package ec2

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"

	"github.com/antipode-bench/antipode/lab/vm"
)

// maxRules is how many inbound rules a group takes of each address family.
const maxRules = 60

// rule is one inbound rule: one source.
type rule struct {
	id          string
	key         ruleKey
	description string
}

// ruleKey is what makes two rules the same.
type ruleKey struct {
	protocol string // "tcp", "udp", "icmp" or "-1"
	from, to int    // ports; -1 for both with icmp and "-1"
	source   netip.Prefix
}

// permission is how the API writes rules: one protocol and port range, many
// sources. The same shape is read from forms and written to answers.
type permission struct {
	IPProtocol string      `form:"IpProtocol,required" xml:"ipProtocol"`
	FromPort   *int        `xml:"fromPort"`
	ToPort     *int        `xml:"toPort"`
	Groups     []groupPair `xml:"groups>item"`
	IPRanges   []ipRange   `form:"IpRanges" xml:"ipRanges>item"`
	IPv6Ranges []ip6Range  `form:"Ipv6Ranges" xml:"ipv6Ranges>item"`
}

type groupPair struct {
	Description string `xml:"description,omitempty"`
	GroupID     string `form:"GroupId" xml:"groupId"`
	GroupName   string `xml:"groupName,omitempty"`
	UserID      string `form:"UserId" xml:"userId"`
	VPC         string `form:"VpcId" xml:"vpcId,omitempty"`
}

type ipRange struct {
	CIDR        string `form:"CidrIp,required" xml:"cidrIp"`
	Description string `xml:"description,omitempty"`
}

type ip6Range struct {
	CIDR        string `form:"CidrIpv6,required" xml:"cidrIpv6"`
	Description string `xml:"description,omitempty"`
}

type ingressInput struct {
	GroupID       string `form:"GroupId"`
	GroupName     string
	IPPermissions []permission `form:"IpPermissions"`
	// The older way to write one permission.
	IPProtocol string `form:"IpProtocol"`
	FromPort   *int
	ToPort     *int
	CIDR       string `form:"CidrIp"`
}

type authorizeInput struct {
	ingressInput
	TagSpecification []tagSpec
}

type revokeInput struct {
	ingressInput
	RuleID []string `form:"SecurityGroupRuleId"`
}

type authorizeAnswer struct {
	okAnswer
	Rules []ruleInfo `xml:"securityGroupRuleSet>item"`
}

type revokeAnswer struct {
	okAnswer
	Rules []ruleInfo `xml:"revokedSecurityGroupRuleSet>item"`
}

type ruleInfo struct {
	ID          string `xml:"securityGroupRuleId"`
	Group       string `xml:"groupId"`
	IsEgress    bool   `xml:"isEgress"`
	Protocol    string `xml:"ipProtocol"`
	FromPort    int    `xml:"fromPort"`
	ToPort      int    `xml:"toPort"`
	CIDR4       string `xml:"cidrIpv4,omitempty"`
	CIDR6       string `xml:"cidrIpv6,omitempty"`
	Description string `xml:"description,omitempty"`
}

// authorizeIngress adds all rules or none, and returns when they hold.
func (r *region) authorizeIngress(_ *call, in *authorizeInput) (*authorizeAnswer, error) {
	if _, err := tagsFor(in.TagSpecification, "security-group-rule"); err != nil {
		return nil, err
	}
	wanted, err := in.rules()
	if err != nil {
		return nil, err
	}
	answer, members, err := r.addRules(in.GroupID, in.GroupName, wanted)
	if err != nil {
		return nil, err
	}
	refresh(members)
	return answer, nil
}

func (r *region) addRules(id, name string, wanted []rule) (*authorizeAnswer, []*instance, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g, err := r.groupBy(id, name)
	if err != nil {
		return nil, nil, err
	}
	rules := slices.Clone(g.rules)
	answer := &authorizeAnswer{okAnswer: okAnswer{Return: true}}
	for _, w := range wanted {
		if slices.ContainsFunc(rules, func(have rule) bool { return have.key == w.key }) {
			return nil, nil, bad("InvalidPermission.Duplicate", "the specified rule \"peer: %s, %s, from port: %d, to port: %d, ALLOW\" already exists",
				w.key.source, w.key.protocol, w.key.from, w.key.to)
		}
		w.id = r.door.newID("sgr")
		rules = append(rules, w)
		answer.Rules = append(answer.Rules, w.info(g.id))
	}
	if overfull(rules) {
		return nil, nil, tooManyRules()
	}
	g.rules = rules
	return answer, r.members(g.id), nil
}

func overfull(rules []rule) bool {
	v4 := 0
	for _, r := range rules {
		if r.key.source.Addr().Is4() {
			v4++
		}
	}
	return v4 > maxRules || len(rules)-v4 > maxRules
}

// revokeIngress removes all rules or none, and returns when they are gone.
func (r *region) revokeIngress(_ *call, in *revokeInput) (*revokeAnswer, error) {
	var unwanted []rule
	if len(in.RuleID) == 0 {
		var err error
		if unwanted, err = in.rules(); err != nil {
			return nil, err
		}
	}
	for _, id := range in.RuleID {
		unwanted = append(unwanted, rule{id: id})
	}
	answer, members, err := r.removeRules(in.GroupID, in.GroupName, unwanted)
	if err != nil {
		return nil, err
	}
	refresh(members)
	return answer, nil
}

func (r *region) removeRules(id, name string, unwanted []rule) (*revokeAnswer, []*instance, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g, err := r.groupBy(id, name)
	if err != nil {
		return nil, nil, err
	}
	rules := slices.Clone(g.rules)
	answer := &revokeAnswer{okAnswer: okAnswer{Return: true}}
	for _, u := range unwanted {
		i := slices.IndexFunc(rules, func(have rule) bool {
			return u.id != "" && have.id == u.id || u.id == "" && have.key == u.key
		})
		switch {
		case i < 0 && u.id != "":
			return nil, nil, bad("InvalidSecurityGroupRuleId.NotFound", "The security group rule ID '%s' does not exist", u.id)
		case i < 0:
			return nil, nil, bad("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
		}
		answer.Rules = append(answer.Rules, rules[i].info(g.id))
		rules = slices.Delete(rules, i, i+1)
	}
	g.rules = rules
	return answer, r.members(g.id), nil
}

// refresh must not be called with a region locked.
func refresh(members []*instance) {
	for _, i := range members {
		i.machine.Refresh()
	}
}

// rules are the permissions of the input, one by one.
func (in *ingressInput) rules() ([]rule, error) {
	permissions := in.IPPermissions
	if in.IPProtocol != "" {
		permissions = append(permissions, permission{
			IPProtocol: in.IPProtocol, FromPort: in.FromPort, ToPort: in.ToPort, IPRanges: []ipRange{{CIDR: in.CIDR}},
		})
	}
	if len(permissions) == 0 {
		return nil, missing("IpPermissions")
	}
	var all []rule
	for _, p := range permissions {
		rules, err := p.rules()
		if err != nil {
			return nil, err
		}
		all = append(all, rules...)
	}
	return all, nil
}

func (p permission) rules() ([]rule, error) {
	if len(p.Groups) > 0 {
		return nil, bad("UnsupportedOperation", "The lab's security groups take address ranges only.")
	}
	base, err := p.key()
	if err != nil {
		return nil, err
	}
	var rules []rule
	add := func(cidr, description string, v4 bool) error {
		source, err := netip.ParsePrefix(cidr)
		if err != nil || source.Addr().Is4() != v4 {
			return bad("InvalidParameterValue", "CIDR block %s is malformed", cidr)
		}
		if description != "" && !groupText.MatchString(description) {
			return bad("InvalidParameterValue", "Invalid rule description: %s", description)
		}
		key := base
		key.source = source.Masked()
		rules = append(rules, rule{key: key, description: description})
		return nil
	}
	for _, r := range p.IPRanges {
		if err := add(r.CIDR, r.Description, true); err != nil {
			return nil, err
		}
	}
	for _, r := range p.IPv6Ranges {
		if err := add(r.CIDR, r.Description, false); err != nil {
			return nil, err
		}
	}
	if len(rules) == 0 {
		return nil, bad("InvalidRequest", "The request received was invalid: a permission has no source.")
	}
	return rules, nil
}

// key is the permission without its sources.
func (p permission) key() (ruleKey, error) {
	k := ruleKey{protocol: p.IPProtocol, from: -1, to: -1}
	if name, ok := map[string]string{"6": "tcp", "17": "udp", "1": "icmp"}[p.IPProtocol]; ok {
		k.protocol = name
	}
	switch k.protocol {
	case "tcp", "udp":
	case "icmp", "-1":
		return k, nil // the lab knows no ICMP types; all protocols mean all ports
	default:
		return k, bad("InvalidParameterValue", "Invalid value '%s' for IP protocol. Unknown protocol.", p.IPProtocol)
	}
	if p.FromPort == nil || p.ToPort == nil {
		return k, bad("InvalidParameterValue", "Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange.")
	}
	k.from, k.to = *p.FromPort, *p.ToPort
	if k.from < 0 || k.to > 65535 || k.from > k.to {
		return k, bad("InvalidParameterValue", "Invalid TCP/UDP port range %d-%d.", k.from, k.to)
	}
	return k, nil
}

func (r rule) info(group string) ruleInfo {
	i := ruleInfo{
		ID: r.id, Group: group, Protocol: r.key.protocol, FromPort: r.key.from, ToPort: r.key.to, Description: r.description,
	}
	if r.key.source.Addr().Is4() {
		i.CIDR4 = r.key.source.String()
	} else {
		i.CIDR6 = r.key.source.String()
	}
	return i
}

func (r rule) forMachine() vm.Rule {
	out := vm.Rule{Protocol: r.key.protocol, Sources: []netip.Prefix{r.key.source}}
	if out.Protocol == "-1" {
		out.Protocol = "all"
	}
	if r.key.from > 0 || r.key.to > 0 {
		out.FromPort, out.ToPort = uint16(r.key.from), uint16(r.key.to)
	}
	return out
}

// permissions groups rules as answers have them.
func permissions(rules []rule) []permission {
	sorted := slices.SortedStableFunc(slices.Values(rules), func(a, b rule) int {
		return cmp.Or(cmp.Compare(a.key.protocol, b.key.protocol), cmp.Compare(a.key.from, b.key.from), cmp.Compare(a.key.to, b.key.to))
	})
	var list []permission
	var last string
	for _, r := range sorted {
		if ports := r.key.protocol + strconv.Itoa(r.key.from) + "-" + strconv.Itoa(r.key.to); ports != last {
			last = ports
			list = append(list, r.key.permission())
		}
		list[len(list)-1].add(r)
	}
	return list
}

func (k ruleKey) permission() permission {
	p := permission{IPProtocol: k.protocol}
	if k.protocol != "-1" {
		p.FromPort, p.ToPort = &k.from, &k.to
	}
	return p
}

func (p *permission) add(r rule) {
	if r.key.source.Addr().Is4() {
		p.IPRanges = append(p.IPRanges, ipRange{r.key.source.String(), r.description})
	} else {
		p.IPv6Ranges = append(p.IPv6Ranges, ip6Range{r.key.source.String(), r.description})
	}
}
