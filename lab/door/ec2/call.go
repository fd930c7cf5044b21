package ec2

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxBody is the longest request accepted, in bytes.
const maxBody = 1 << 20

// call is one request being answered.
type call struct {
	door         *Door
	region       *region
	dialect      dialect
	id           string // of the request
	action       string // as the API spells it
	zone         string // that the call names, if any
	form         *node  // of a Query call
	body         []byte // of a JSON call
	fingerprint  string // the same for the same request
	session      *session
	lateCapacity bool // a fault: what is launched will not come up
}

// action answers a call.
type action func(*call) (any, error)

// read finds out where the call goes.
func (c *call) read(r *http.Request) (action, error) {
	// The whole body first: the server notices a caller that hangs up only then.
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, bad("InvalidRequest", "The request could not be read: %v", err)
	}
	key, regionName, service, err := scope(r.Header.Get("Authorization"))
	if err != nil {
		return nil, err
	}
	c.dialect = dialectFor(service)
	if err := c.readBody(r, body); err != nil {
		return nil, err
	}
	if c.region = c.door.regions[regionName]; c.region == nil && (service == "sts" || c.action == "DescribeRegions") {
		c.region = c.door.homes[regionName]
	}
	if c.region == nil {
		return nil, authFailure()
	}
	if c.session, err = c.door.sessions.of(key, r.Header.Get("X-Amz-Security-Token"), c.dialect); err != nil {
		return nil, err
	}
	if c.door.faults.OptedOut(regionName) {
		return nil, c.dialect.notOptedIn()
	}
	c.zone = c.named()
	next, ok := actions[service][c.action]
	if !ok {
		return nil, bad("InvalidAction", "The action %s is not valid for this web service.", c.action)
	}
	return next, nil
}

func (c *call) readBody(r *http.Request, body []byte) error {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		_, c.action, _ = strings.Cut(target, ".")
		c.body = body
		return nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return bad("MalformedQueryString", "The form could not be read: %v", err)
	}
	if c.form, err = parseForm(form); err != nil {
		return err
	}
	c.action, _ = c.form.take("Action")
	c.form.take("Version")
	form.Del("ClientToken")
	c.fingerprint = form.Encode()
	return nil
}

// dryRun says whether the caller only asks if it may.
func (c *call) dryRun() bool { return c.form != nil && c.form.at("DryRun") == "true" }

// named is the availability zone that the call names, if any.
func (c *call) named() string {
	if c.form == nil {
		return ""
	}
	if zone := c.form.at("Placement", "AvailabilityZone"); zone != "" {
		return zone
	}
	subnet := cmp.Or(c.form.at("SubnetId"), c.form.at("NetworkInterface", "1", "SubnetId"))
	return c.region.zoneOfSubnet(subnet)
}

// scope reads key, region and service from the credential scope of an AWS signature,
// "AWS4-HMAC-SHA256 Credential=KEY/DATE/REGION/SERVICE/aws4_request, …". The
// signature itself is not checked: the door keeps no secrets.
func scope(authorization string) (key, region, service string, err error) {
	_, rest, ok := strings.Cut(authorization, "Credential=")
	if !ok {
		return "", "", "", &failure{http.StatusUnauthorized, "MissingAuthenticationToken", "Request is missing Authentication Token"}
	}
	credential, _, _ := strings.Cut(rest, ",")
	part := strings.Split(strings.TrimSpace(credential), "/")
	if len(part) != 5 || part[4] != "aws4_request" {
		return "", "", "", authFailure()
	}
	return part[0], part[2], part[3], nil
}

func authFailure() *failure {
	return &failure{http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access credentials"}
}

// query makes an action of a method on the caller's region.
func query[In, Out any](f func(*region, *call, *In) (Out, error)) action {
	return func(c *call) (any, error) {
		var in In
		if c.form == nil {
			return nil, bad("InvalidAction", "The action %s takes a form.", c.action)
		}
		dry, _ := c.form.take("DryRun")
		if err := c.form.decode(&in); err != nil {
			return nil, err
		}
		if dry == "true" {
			return nil, &failure{http.StatusPreconditionFailed, "DryRunOperation",
				"Request would have succeeded, but DryRun flag is set."}
		}
		return f(c.region, c, &in)
	}
}

// structured makes an action of a method that is called with a JSON body.
func structured[In, Out any](f func(*region, *In) (Out, error)) action {
	return func(c *call) (any, error) {
		var in In
		if err := json.Unmarshal(c.body, &in); err != nil {
			return nil, bad("SerializationException", "The body could not be read: %v", err)
		}
		return f(c.region, &in)
	}
}

// actions are the calls the door answers, by service.
var actions = map[string]map[string]action{
	"ec2": {
		"AuthorizeSecurityGroupIngress": query((*region).authorizeIngress),
		"AssociateRouteTable":           query((*region).associateTable),
		"AttachInternetGateway":         query((*region).attachGateway),
		"CreateInternetGateway":         query((*region).createGateway),
		"CreatePlacementGroup":          query((*region).createPlacement),
		"CreateRoute":                   query((*region).createRoute),
		"CreateRouteTable":              query((*region).createTable),
		"CreateSecurityGroup":           query((*region).createGroup),
		"CreateSubnet":                  query((*region).createSubnet),
		"CreateTags":                    query((*region).createTags),
		"CreateVpc":                     query((*region).createVPC),
		"DeleteInternetGateway":         query((*region).deleteGateway),
		"DeleteKeyPair":                 query((*region).deleteKeyPair),
		"DeletePlacementGroup":          query((*region).deletePlacement),
		"DeleteRouteTable":              query((*region).deleteTable),
		"DeleteSecurityGroup":           query((*region).deleteGroup),
		"DeleteSubnet":                  query((*region).deleteSubnet),
		"DeleteVolume":                  query((*region).deleteVolume),
		"DeleteVpc":                     query((*region).deleteVPC),
		"DescribeAvailabilityZones":     query((*region).describeZones),
		"DescribeImages":                query((*region).describeImages),
		"DescribeInstanceTypeOfferings": query((*region).describeOfferings),
		"DescribeInstanceTypes":         query((*region).describeTypes),
		"DescribeInstances":             query((*region).describeInstances),
		"DescribeInternetGateways":      query((*region).describeGateways),
		"DescribeKeyPairs":              query((*region).describeKeyPairs),
		"DescribeNetworkInterfaces":     query((*region).describeInterfaces),
		"DescribePlacementGroups":       query((*region).describePlacements),
		"DescribeRegions":               query((*region).describeRegions),
		"DescribeRouteTables":           query((*region).describeTables),
		"DescribeSecurityGroups":        query((*region).describeGroups),
		"DescribeSubnets":               query((*region).describeSubnets),
		"DescribeVolumes":               query((*region).describeVolumes),
		"DescribeVpcs":                  query((*region).describeVPCs),
		"DetachInternetGateway":         query((*region).detachGateway),
		"ImportKeyPair":                 query((*region).importKeyPair),
		"RevokeSecurityGroupIngress":    query((*region).revokeIngress),
		"RunInstances":                  query((*region).runInstances),
		"TerminateInstances":            query((*region).terminateInstances),
	},
	"ssm": {
		"GetParameter":  structured((*region).getParameter),
		"GetParameters": structured((*region).getParameters),
	},
	"servicequotas": {
		"GetServiceQuota": structured((*region).getServiceQuota),
	},
	"sts": {
		"AssumeRole":        query((*region).assumeRole),
		"GetCallerIdentity": query((*region).getCallerIdentity),
	},
}
