package ec2

import "net/netip"

// everywhere is the destination of the route to the internet.
var everywhere = netip.MustParsePrefix("0.0.0.0/0")

// routeTable says where packets of some subnets go that leave their VPC.
type routeTable struct {
	resource
	vpc     *vpc
	token   string                    // of the call that made it
	main    bool                      // of the subnets that are associated with none
	subnets map[*subnet]string        // association ids
	routes  map[netip.Prefix]*gateway // beside the VPC's own
}

// tableBy finds a route table that reads can see already.
func (r *region) tableBy(id string) (*routeTable, error) {
	if t := r.tables[id]; t != nil && t.seen() {
		return t, nil
	}
	return nil, tableNotFound(id)
}

func tableNotFound(id string) *failure {
	return bad("InvalidRouteTableID.NotFound", "The routeTable ID '%s' does not exist", id)
}

// online says whether there is a way between a subnet and the internet. Without
// one a public address is of no use.
func (r *region) online(s *subnet) bool {
	var by *routeTable
	for _, t := range r.tables {
		if t.vpc != s.vpc {
			continue
		}
		if _, associated := t.subnets[s]; associated || t.main && by == nil {
			by = t
			if associated {
				break
			}
		}
	}
	if by == nil {
		return false
	}
	via := by.routes[everywhere]
	return via != nil && via.vpc == s.vpc
}

// refresh lets the machines of a VPC know that the way to them has changed. Not
// with the region locked.
func (r *region) refresh(vpcID string) {
	for _, i := range r.instancesIn(vpcID) {
		i.machine.Refresh()
	}
}

func (r *region) instancesIn(vpcID string) []*instance {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []*instance
	for _, i := range r.instances {
		if i.subnet.vpc.id == vpcID && i.machine != nil {
			list = append(list, i)
		}
	}
	return list
}

type describeTablesInput struct {
	ID     []string `form:"RouteTableId"`
	Filter []filter
	paging
}

type tablesAnswer struct {
	reply
	NextToken string      `xml:"nextToken,omitempty"`
	Tables    []tableInfo `xml:"routeTableSet>item"`
}

type tableInfo struct {
	Associations []associationItem `xml:"associationSet>item"`
	ID           string            `xml:"routeTableId"`
	Routes       []routeInfo       `xml:"routeSet>item"`
	Tags         []tag             `xml:"tagSet>item"`
	VPC          string            `xml:"vpcId"`
	Owner        string            `xml:"ownerId"`
}

type associationItem struct {
	Main   bool             `xml:"main"`
	ID     string           `xml:"routeTableAssociationId"`
	Table  string           `xml:"routeTableId"`
	Subnet string           `xml:"subnetId,omitempty"`
	State  associationState `xml:"associationState"`
}

type associationState struct {
	State string `xml:"state"`
}

type routeInfo struct {
	To      string `xml:"destinationCidrBlock,omitempty"`
	To6     string `xml:"destinationIpv6CidrBlock,omitempty"`
	Gateway string `xml:"gatewayId"`
	Origin  string `xml:"origin"`
	State   string `xml:"state"`
}

func (t *routeTable) info() tableInfo {
	info := tableInfo{ID: t.id, Tags: t.tags.list(), VPC: t.vpc.id, Owner: Account,
		Routes: []routeInfo{{To: t.vpc.cidr.String(), Gateway: "local", Origin: "CreateRouteTable", State: "active"}}}
	for to, via := range t.routes {
		state := "active"
		if via.vpc != t.vpc {
			state = "blackhole"
		}
		route := routeInfo{To: to.String(), Gateway: via.id, Origin: "CreateRoute", State: state}
		if to.Addr().Is6() {
			route.To, route.To6 = "", route.To
		}
		info.Routes = append(info.Routes, route)
	}
	if t.main {
		info.Associations = []associationItem{{Main: true, ID: fixedID("rtbassoc", t.id), Table: t.id, State: associationState{"associated"}}}
	}
	for s, id := range t.subnets {
		info.Associations = append(info.Associations, associationItem{ID: id, Table: t.id, Subnet: s.id, State: associationState{"associated"}})
	}
	return info
}

func (r *region) describeTables(_ *call, in *describeTablesInput) (*tablesAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range in.ID {
		if _, err := r.tableBy(id); err != nil {
			return nil, err
		}
	}
	var found []tableInfo
	for _, t := range byAge(r.tables, func(t *routeTable) *resource { return &t.resource }) {
		ok, err := match(in.Filter, t.tags, map[string][]string{"route-table-id": {t.id}, "vpc-id": {t.vpc.id}, "owner-id": {Account}})
		if err != nil {
			return nil, err
		}
		if ok && wanted(in.ID, t.id) {
			found = append(found, t.info())
		}
	}
	page, next, err := in.page(len(found))
	if err != nil {
		return nil, err
	}
	return &tablesAnswer{NextToken: next, Tables: found[page.from:page.to]}, nil
}

type createTableInput struct {
	VPC              string `form:"VpcId,required"`
	ClientToken      string
	TagSpecification []tagSpec
}

type createTableAnswer struct {
	reply
	Table tableInfo `xml:"routeTable"`
	Token string    `xml:"clientToken,omitempty"`
}

// createTable makes one table for a token, however often it is called.
func (r *region) createTable(_ *call, in *createTableInput) (*createTableAnswer, error) {
	t, err := tagsFor(in.TagSpecification, "route-table")
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v, err := r.vpcBy(in.VPC)
	if err != nil {
		return nil, err
	}
	for _, made := range r.tables {
		if in.ClientToken != "" && made.token == in.ClientToken {
			return &createTableAnswer{Table: made.info(), Token: made.token}, nil
		}
	}
	made := &routeTable{resource: r.newResource("rtb", t), vpc: v, token: in.ClientToken, subnets: map[*subnet]string{}, routes: map[netip.Prefix]*gateway{}}
	r.tables[made.id] = made
	return &createTableAnswer{Table: made.info(), Token: made.token}, nil
}

type deleteTableInput struct {
	ID string `form:"RouteTableId,required"`
}

func (r *region) deleteTable(_ *call, in *deleteTableInput) (*okAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tables[in.ID]
	switch {
	case t == nil:
		return nil, tableNotFound(in.ID)
	case t.main || len(t.subnets) > 0:
		return nil, dependent("routeTable", t.id)
	}
	delete(r.tables, t.id)
	return &okAnswer{Return: true}, nil
}
