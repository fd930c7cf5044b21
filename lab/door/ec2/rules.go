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
