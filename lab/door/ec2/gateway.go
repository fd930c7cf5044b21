package ec2

// gateway is an internet gateway.
type gateway struct {
	resource
	vpc *vpc // that it is attached to; nil: none
}

// gatewayBy finds a gateway that reads can see already.
func (r *region) gatewayBy(id string) (*gateway, error) {
	if g := r.gateways[id]; g != nil && g.seen() {
		return g, nil
	}
	return nil, gatewayNotFound(id)
}

func gatewayNotFound(id string) *failure {
	return bad("InvalidInternetGatewayID.NotFound", "The internetGateway ID '%s' does not exist", id)
}

type describeGatewaysInput struct {
	ID     []string `form:"InternetGatewayId"`
	Filter []filter
	paging
}

type gatewaysAnswer struct {
	reply
	NextToken string        `xml:"nextToken,omitempty"`
	Gateways  []gatewayInfo `xml:"internetGatewaySet>item"`
}

type gatewayInfo struct {
	Attachments []gatewayAttachment `xml:"attachmentSet>item"`
	ID          string              `xml:"internetGatewayId"`
	Owner       string              `xml:"ownerId"`
	Tags        []tag               `xml:"tagSet>item"`
}

// attached is the state of an attachment: "available" in EC2's documentation,
// but not in its model.
const attached = "attached"

type gatewayAttachment struct {
	State string `xml:"state"`
	VPC   string `xml:"vpcId"`
}

func (g *gateway) info() gatewayInfo {
	info := gatewayInfo{ID: g.id, Owner: Account, Tags: g.tags.list()}
	if g.vpc != nil {
		info.Attachments = []gatewayAttachment{{attached, g.vpc.id}}
	}
	return info
}

func (g *gateway) fields() map[string][]string {
	f := map[string][]string{"internet-gateway-id": {g.id}, "owner-id": {Account}, "attachment.vpc-id": nil, "attachment.state": nil}
	if g.vpc != nil {
		f["attachment.vpc-id"], f["attachment.state"] = []string{g.vpc.id}, []string{attached}
	}
	return f
}

func (r *region) describeGateways(_ *call, in *describeGatewaysInput) (*gatewaysAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range in.ID {
		if _, err := r.gatewayBy(id); err != nil {
			return nil, err
		}
	}
	var found []gatewayInfo
	for _, g := range byAge(r.gateways, func(g *gateway) *resource { return &g.resource }) {
		ok, err := match(in.Filter, g.tags, g.fields())
		if err != nil {
			return nil, err
		}
		if ok && wanted(in.ID, g.id) {
			found = append(found, g.info())
		}
	}
	page, next, err := in.page(len(found))
	if err != nil {
		return nil, err
	}
	return &gatewaysAnswer{NextToken: next, Gateways: found[page.from:page.to]}, nil
}

type createGatewayInput struct {
	TagSpecification []tagSpec
}

type createGatewayAnswer struct {
	reply
	Gateway gatewayInfo `xml:"internetGateway"`
}

// createGateway makes another one each time it is called: it takes no token.
func (r *region) createGateway(_ *call, in *createGatewayInput) (*createGatewayAnswer, error) {
	t, err := tagsFor(in.TagSpecification, "internet-gateway")
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	g := &gateway{resource: r.newResource("igw", t)}
	r.gateways[g.id] = g
	return &createGatewayAnswer{Gateway: g.info()}, nil
}

type gatewayInput struct {
	ID  string `form:"InternetGatewayId,required"`
	VPC string `form:"VpcId,required"`
}

func (r *region) attachGateway(_ *call, in *gatewayInput) (*okAnswer, error) {
	if err := r.attachGatewayTo(in); err != nil {
		return nil, err
	}
	r.refresh(in.VPC)
	return &okAnswer{Return: true}, nil
}

func (r *region) attachGatewayTo(in *gatewayInput) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	g, err := r.gatewayBy(in.ID)
	if err != nil {
		return err
	}
	v, err := r.vpcBy(in.VPC)
	if err != nil {
		return err
	}
	if g.vpc != nil {
		return bad("Resource.AlreadyAssociated", "resource %s is already attached to network %s", g.id, g.vpc.id)
	}
	for _, other := range r.gateways {
		if other.vpc == v {
			return bad("InvalidParameterValue", "Network %s already has an internet gateway attached", v.id)
		}
	}
	g.vpc = v
	return nil
}

func (r *region) detachGateway(_ *call, in *gatewayInput) (*okAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.gateways[in.ID]
	switch {
	case g == nil:
		return nil, gatewayNotFound(in.ID)
	case g.vpc == nil || g.vpc.id != in.VPC:
		return nil, bad("Gateway.NotAttached", "resource %s is not attached to network %s", g.id, in.VPC)
	}
	for _, i := range r.instances {
		if i.state != terminated && i.public && i.subnet.vpc == g.vpc {
			return nil, bad("DependencyViolation", "Network %s has some mapped public address(es). "+
				"Please unmap those public address(es) before detaching the gateway.", in.VPC)
		}
	}
	g.vpc = nil
	return &okAnswer{Return: true}, nil
}

type deleteGatewayInput struct {
	ID string `form:"InternetGatewayId,required"`
}

func (r *region) deleteGateway(_ *call, in *deleteGatewayInput) (*okAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.gateways[in.ID]
	switch {
	case g == nil:
		return nil, gatewayNotFound(in.ID)
	case g.vpc != nil:
		return nil, dependent("internetGateway", g.id)
	}
	delete(r.gateways, g.id)
	for _, t := range r.tables {
		for to, via := range t.routes {
			if via == g {
				delete(t.routes, to) // AWS keeps it as a black hole
			}
		}
	}
	return &okAnswer{Return: true}, nil
}
