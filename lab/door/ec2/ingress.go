package ec2

import "slices"

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

// authorizeIngress adds all rules or none, and returns when they hold.
func (r *region) authorizeIngress(_ *call, in *authorizeInput) (*authorizeAnswer, error) {
	if _, err := tagsFor(in.TagSpecification, "security-group-rule"); err != nil {
		return nil, err
	}
	wanted, err := in.rules()
	if err != nil {
		return nil, err
	}
	for i := range wanted {
		wanted[i].id = r.door.newID("sgr")
	}
	added, err := r.changeRules(&in.ingressInput, func(have []rule) (now, added []rule, err error) {
		now, err = with(have, wanted)
		return now, wanted, err
	})
	return &authorizeAnswer{okAnswer{Return: true}, added}, err
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
	removed, err := r.changeRules(&in.ingressInput, func(have []rule) (now, removed []rule, err error) {
		return without(have, unwanted)
	})
	return &revokeAnswer{okAnswer{Return: true}, removed}, err
}

// changeRules lets change turn a group's rules into others, and returns those it
// added or removed once the group's machines go by the new ones.
func (r *region) changeRules(in *ingressInput, change func(have []rule) (now, changed []rule, err error)) ([]ruleInfo, error) {
	infos, members, err := r.replaceRules(in, change)
	if err != nil {
		return nil, err
	}
	for _, i := range members {
		i.machine.Refresh() // not with the region locked
	}
	return infos, nil
}

func (r *region) replaceRules(in *ingressInput, change func([]rule) (now, changed []rule, err error)) ([]ruleInfo, []*instance, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g, err := r.groupBy(in.GroupID, in.GroupName)
	if err != nil {
		return nil, nil, err
	}
	now, changed, err := change(slices.Clone(g.rules))
	if err != nil {
		return nil, nil, err
	}
	g.rules = now
	var infos []ruleInfo
	for _, c := range changed {
		infos = append(infos, c.info(g.id))
	}
	return infos, r.members(g.id), nil
}

// with are the rules and the wanted ones, of which none may be there.
func with(rules, wanted []rule) ([]rule, error) {
	for _, w := range wanted {
		if slices.ContainsFunc(rules, func(have rule) bool { return have.key == w.key }) {
			return nil, bad("InvalidPermission.Duplicate", "the specified rule \"peer: %s, %s, from port: %d, to port: %d, ALLOW\" already exists",
				w.key.source, w.key.protocol, w.key.from, w.key.to)
		}
		rules = append(rules, w)
	}
	if overfull(rules) {
		return nil, tooManyRules()
	}
	return rules, nil
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

// without are the rules less the unwanted ones, all of which must be there.
func without(rules, unwanted []rule) (left, removed []rule, err error) {
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
		removed = append(removed, rules[i])
		rules = slices.Delete(rules, i, i+1)
	}
	return rules, removed, nil
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
