package ec2

import "net/netip"

type createRouteInput struct {
	Table   string `form:"RouteTableId,required"`
	To      string `form:"DestinationCidrBlock"`
	To6     string `form:"DestinationIpv6CidrBlock"`
	Gateway string `form:"GatewayId"`
}

// createRoute knows routes to internet gateways alone.
func (r *region) createRoute(_ *call, in *createRouteInput) (*okAnswer, error) {
	vpc, err := r.addRoute(in)
	if err != nil {
		return nil, err
	}
	r.refresh(vpc)
	return &okAnswer{Return: true}, nil
}

// destination is of one version of IP.
func (in *createRouteInput) destination() (netip.Prefix, error) {
	text, name := in.To, "destinationCidrBlock"
	if in.To == "" && in.To6 != "" {
		text, name = in.To6, "destinationIpv6CidrBlock"
	}
	to, err := netip.ParsePrefix(text)
	if err != nil || to.Addr().Is6() != (text == in.To6) {
		return to, bad("InvalidParameterValue", "Value (%s) for parameter %s is invalid. This is not a valid CIDR block.", text, name)
	}
	return to, nil
}

// addRoute returns the VPC that has one more route.
func (r *region) addRoute(in *createRouteInput) (vpcID string, err error) {
	to, err := in.destination()
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t, err := r.tableBy(in.Table)
	if err != nil {
		return "", err
	}
	g := r.gateways[in.Gateway]
	switch {
	case g == nil || !g.seen():
		return "", bad("InvalidGatewayID.NotFound", "The gateway ID '%s' does not exist", in.Gateway)
	case g.vpc != t.vpc:
		return "", bad("InvalidParameterValue", "route table %s and network gateway %s belong to different networks", t.id, g.id)
	case t.routes[to.Masked()] != nil:
		return "", bad("RouteAlreadyExists", "The route identified by %s already exists.", to)
	}
	t.routes[to.Masked()] = g
	return t.vpc.id, nil
}

type associateInput struct {
	Table  string `form:"RouteTableId,required"`
	Subnet string `form:"SubnetId,required"`
}

type associateAnswer struct {
	reply
	ID    string           `xml:"associationId"`
	State associationState `xml:"associationState"`
}

func (r *region) associateTable(_ *call, in *associateInput) (*associateAnswer, error) {
	id, vpc, err := r.associate(in)
	if err != nil {
		return nil, err
	}
	r.refresh(vpc)
	return &associateAnswer{ID: id, State: associationState{"associated"}}, nil
}

func (r *region) associate(in *associateInput) (id, vpcID string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, err := r.tableBy(in.Table)
	if err != nil {
		return "", "", err
	}
	s, err := r.subnetBy(in.Subnet)
	if err != nil {
		return "", "", err
	}
	if s.vpc != t.vpc {
		return "", "", bad("InvalidParameterValue", "Route table %s and subnet %s belong to different networks", t.id, in.Subnet)
	}
	for _, other := range r.tables {
		if _, taken := other.subnets[s]; taken {
			return "", "", bad("Resource.AlreadyAssociated", "the specified association for route table %s conflicts with an existing association", t.id)
		}
	}
	id = r.door.newID("rtbassoc")
	if t.subnets == nil { // a main table
		t.subnets = map[*subnet]string{}
	}
	t.subnets[s] = id
	return id, t.vpc.id, nil
}
