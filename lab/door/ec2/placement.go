package ec2

import "regexp"

// placementGroup asks for machines to stand near each other, or apart. Those of
// the lab stand nowhere.
type placementGroup struct {
	resource
	name, strategy string
}

type createPlacementInput struct {
	Name             string `form:"GroupName"`
	Strategy         string
	TagSpecification []tagSpec
}

type createPlacementAnswer struct {
	reply
	Group placementInfoItem `xml:"placementGroup"`
}

type placementInfoItem struct {
	Name     string `xml:"groupName"`
	State    string `xml:"state"`
	Strategy string `xml:"strategy"`
	ID       string `xml:"groupId"`
	Tags     []tag  `xml:"tagSet>item"`
	ARN      string `xml:"groupArn"`
}

func (r *region) placementInfo(p *placementGroup) placementInfoItem {
	return placementInfoItem{p.name, "available", p.strategy, p.id, p.tags.list(), r.arn("placement-group", p.name)}
}

var placementName = regexp.MustCompile(`^[\x20-\x7e]{1,255}$`)

func (r *region) createPlacement(_ *call, in *createPlacementInput) (*createPlacementAnswer, error) {
	t, err := tagsFor(in.TagSpecification, "placement-group")
	if err != nil {
		return nil, err
	}
	switch {
	case !placementName.MatchString(in.Name):
		return nil, invalidValue("groupName", in.Name)
	case in.Strategy != "cluster" && in.Strategy != "spread":
		return nil, invalidValue("strategy", in.Strategy)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.placements[in.Name] != nil {
		return nil, bad("InvalidPlacementGroup.Duplicate", "The Placement Group '%s' already exists.", in.Name)
	}
	p := &placementGroup{resource: r.newResource("pg", t), name: in.Name, strategy: in.Strategy}
	r.placements[p.name] = p
	return &createPlacementAnswer{Group: r.placementInfo(p)}, nil
}

type describePlacementsInput struct {
	Name   []string `form:"GroupName"`
	ID     []string `form:"GroupId"`
	Filter []filter
}

type placementsAnswer struct {
	reply
	Groups []placementInfoItem `xml:"placementGroupSet>item"`
}

// describePlacements knows no pages, as EC2's does not.
func (r *region) describePlacements(_ *call, in *describePlacementsInput) (*placementsAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range in.Name {
		if p := r.placements[name]; p == nil || !p.seen() {
			return nil, placementNotFound(name)
		}
	}
	list := &placementsAnswer{}
	for _, p := range byAge(r.placements, func(p *placementGroup) *resource { return &p.resource }) {
		ok, err := match(in.Filter, p.tags, map[string][]string{"group-name": {p.name}, "state": {"available"}, "strategy": {p.strategy}})
		if err != nil {
			return nil, err
		}
		if ok && wanted(in.Name, p.name) && wanted(in.ID, p.id) {
			list.Groups = append(list.Groups, r.placementInfo(p))
		}
	}
	return list, nil
}

func placementNotFound(name string) *failure {
	return bad("InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.", name)
}

type deletePlacementInput struct {
	Name string `form:"GroupName,required"`
}

func (r *region) deletePlacement(_ *call, in *deletePlacementInput) (*okAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.placements[in.Name] == nil {
		return nil, placementNotFound(in.Name)
	}
	delete(r.placements, in.Name)
	return &okAnswer{Return: true}, nil
}
