package ec2

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/antipode-bench/antipode/lab/vm"
)

// group is a security group.
type group struct {
	resource
	vpc               *vpc
	name, description string
	rules             []rule
}

func (g *group) isDefault() bool { return g.name == "default" }

type createGroupInput struct {
	Description      string `form:"GroupDescription,required"`
	Name             string `form:"GroupName,required"`
	VPC              string `form:"VpcId"`
	TagSpecification []tagSpec
}

type createGroupAnswer struct {
	reply
	ID   string `xml:"groupId"`
	Tags []tag  `xml:"tagSet>item"`
	ARN  string `xml:"securityGroupArn"`
}

// groupText is what AWS allows in a group's name and description, and in a
// rule's description.
var groupText = regexp.MustCompile(`^[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}$`)

func (r *region) createGroup(_ *call, in *createGroupInput) (*createGroupAnswer, error) {
	t, err := tagsFor(in.TagSpecification, "security-group")
	if err != nil {
		return nil, err
	}
	switch {
	case !groupText.MatchString(in.Name) || strings.HasPrefix(in.Name, "sg-"):
		return nil, invalidValue("GroupName", in.Name)
	case !groupText.MatchString(in.Description):
		return nil, invalidValue("GroupDescription", in.Description)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v, err := r.defaultVPC()
	if in.VPC != "" {
		v, err = r.vpcBy(in.VPC)
	}
	if err != nil {
		return nil, err
	}
	if r.groupNamed(v, in.Name) != nil {
		return nil, bad("InvalidGroup.Duplicate", "The security group '%s' already exists for VPC '%s'", in.Name, v.id)
	}
	g := &group{resource: r.newResource("sg", t), vpc: v, name: in.Name, description: in.Description}
	r.groups[g.id] = g
	return &createGroupAnswer{ID: g.id, Tags: t.list(), ARN: r.arn("security-group", g.id)}, nil
}

// groupNamed finds a VPC's group by name, which is the same in upper and lower case.
func (r *region) groupNamed(v *vpc, name string) *group {
	for _, g := range r.groups {
		if g.vpc == v && strings.EqualFold(g.name, name) {
			return g
		}
	}
	return nil
}

// group finds a group that reads can see already.
func (r *region) group(id string) (*group, error) {
	if !strings.HasPrefix(id, "sg-") {
		return nil, bad("InvalidGroupId.Malformed", "Invalid id: \"%s\" (expecting \"sg-...\")", id)
	}
	g := r.groups[id]
	if g == nil || !g.seen() {
		return nil, groupNotFound(id)
	}
	return g, nil
}

func groupNotFound(id string) *failure {
	return bad("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
}

// groupBy finds the group that a call names by id or, in the account's first
// VPC, by name.
func (r *region) groupBy(id, name string) (*group, error) {
	switch {
	case id != "":
		return r.group(id)
	case name == "":
		return nil, missing("GroupId")
	}
	if g := r.groupNamed(r.home, name); g != nil && g.seen() {
		return g, nil
	}
	return nil, groupNotFound(name)
}

type describeGroupsInput struct {
	GroupID   []string `form:"GroupId"`
	GroupName []string
	Filter    []filter
	paging
}

type groupsAnswer struct {
	reply
	NextToken string      `xml:"nextToken,omitempty"`
	Groups    []groupInfo `xml:"securityGroupInfo>item"`
}

type groupInfo struct {
	ID          string       `xml:"groupId"`
	Egress      []permission `xml:"ipPermissionsEgress>item"`
	Tags        []tag        `xml:"tagSet>item"`
	VPC         string       `xml:"vpcId"`
	ARN         string       `xml:"securityGroupArn"`
	Owner       string       `xml:"ownerId"`
	Name        string       `xml:"groupName"`
	Description string       `xml:"groupDescription"`
	Ingress     []permission `xml:"ipPermissions>item"`
}

func (r *region) describeGroups(_ *call, in *describeGroupsInput) (*groupsAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range in.GroupID {
		if _, err := r.group(id); err != nil {
			return nil, err
		}
	}
	for _, name := range in.GroupName {
		if _, err := r.groupBy("", name); err != nil {
			return nil, err
		}
	}
	var found []groupInfo
	for _, g := range byAge(r.groups, func(g *group) *resource { return &g.resource }) {
		ok, err := match(in.Filter, g.tags, map[string][]string{
			"group-id": {g.id}, "group-name": {g.name}, "description": {g.description},
			"vpc-id": {g.vpc.id}, "owner-id": {Account},
		})
		if err != nil {
			return nil, err
		}
		if ok && wanted(in.GroupID, g.id) && wanted(in.GroupName, g.name) {
			found = append(found, r.groupInfo(g))
		}
	}
	page, next, err := in.page(len(found))
	if err != nil {
		return nil, err
	}
	return &groupsAnswer{NextToken: next, Groups: found[page.from:page.to]}, nil
}

func (r *region) groupInfo(g *group) groupInfo {
	everywhere := permission{IPProtocol: "-1", IPRanges: []ipRange{{CIDR: "0.0.0.0/0"}}}
	return groupInfo{
		ID: g.id, Egress: []permission{everywhere}, Tags: g.tags.list(), VPC: g.vpc.id, Owner: Account,
		ARN: r.arn("security-group", g.id), Name: g.name, Description: g.description, Ingress: permissions(g.rules),
	}
}

type deleteGroupInput struct {
	ID   string `form:"GroupId"`
	Name string `form:"GroupName"`
}

type deleteGroupAnswer struct {
	okAnswer
	ID string `xml:"groupId"`
}

// deleteGroup sees every group, also those that reads don't find yet: a late
// "not found" here would hide a leak that AWS would not have.
func (r *region) deleteGroup(_ *call, in *deleteGroupInput) (*deleteGroupAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.groups[in.ID]
	if in.ID == "" {
		g = r.groupNamed(r.home, in.Name)
	}
	switch {
	case in.ID == "" && in.Name == "":
		return nil, missing("GroupId")
	case g == nil:
		return nil, groupNotFound(in.ID + in.Name)
	case g.isDefault():
		return nil, bad("CannotDelete", "the specified group: \"%s\" name: \"default\" cannot be deleted by a user", g.id)
	case r.groupInUse(g.id):
		return nil, bad("DependencyViolation", "resource %s has a dependent object", g.id)
	}
	delete(r.groups, g.id)
	return &deleteGroupAnswer{okAnswer{Return: true}, g.id}, nil
}

// groupInUse says whether an instance that has not ended is in the group.
func (r *region) groupInUse(id string) bool {
	for _, i := range r.instances {
		if i.state != terminated && slices.Contains(i.groups, id) {
			return true
		}
	}
	return false
}

// members are the instances whose rules change with the group's.
func (r *region) members(id string) []*instance {
	var list []*instance
	for _, i := range r.instances {
		if slices.Contains(i.groups, id) {
			list = append(list, i)
		}
	}
	return list
}

// rulesOf is what the groups of an instance let in, for the hypervisor.
func (r *region) rulesOf(groups []string) []vm.Rule {
	var rules []vm.Rule
	for _, id := range groups {
		if g := r.groups[id]; g != nil {
			for _, rule := range g.rules {
				rules = append(rules, rule.forMachine())
			}
		}
	}
	return rules
}

// tooManyRules is the answer to a rule too many.
func tooManyRules() *failure {
	return &failure{http.StatusBadRequest, "RulesPerSecurityGroupLimitExceeded",
		"The maximum number of rules per security group has been reached."}
}
