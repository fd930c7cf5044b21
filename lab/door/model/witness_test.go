package model_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/antipode-bench/antipode/lab/door/model"
)

// exchange is a request and its answer.
type exchange struct {
	method, url string
	service     string // of the signature; empty: none
	target      string
	form        string // or JSON
	status      int
	kind        string // of the answer's content
	answer      string
}

const (
	project  = "https://compute.test/compute/v1/projects/p"
	insertID = "?requestId=5f0c6f2e-0c5d-4a37-9a52-0d5b8a0f3c11"
)

// Exchanges in which everything is right.
var (
	describe = exchange{"POST", "https://ec2.test/", "ec2", "",
		"Action=DescribeInstances&Version=2016-11-15&Filter.1.Name=tag-key&Filter.1.Value.1=a&Filter.1.Value.2=b&MaxResults=5&DryRun=false",
		200, "text/xml;charset=UTF-8",
		`<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId><reservationSet><item><instancesSet>
			<item><instanceId>i-1</instanceId><launchTime>2026-11-30T10:00:00.000Z</launchTime><ebsOptimized>false</ebsOptimized>
			<instanceState><code>16</code><name>running</name></instanceState></item>
		</instancesSet></item></reservationSet></DescribeInstancesResponse>`}
	run = exchange{"POST", "https://ec2.test/", "ec2", "",
		"Action=RunInstances&Version=2016-11-15&MinCount=1&MaxCount=1&InstanceType=t3.nano&UserData=eA%3D%3D&TagSpecification.1.ResourceType=instance" +
			"&TagSpecification.1.Tag.1.Key=k&TagSpecification.1.Tag.1.Value=v&NetworkInterface.1.DeviceIndex=0&NetworkInterface.1.SecurityGroupId.1=sg-1",
		503, "text/xml;charset=UTF-8",
		`<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>slower</Message></Error></Errors><RequestID>r</RequestID></Response>`}
	identity = exchange{"POST", "https://sts.test/", "sts", "", "Action=GetCallerIdentity&Version=2011-06-15", 200, "text/xml",
		`<GetCallerIdentityResponse><GetCallerIdentityResult><Account>1</Account></GetCallerIdentityResult>
			<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></GetCallerIdentityResponse>`}
	parameter = exchange{"POST", "https://ssm.test/", "ssm", "AmazonSSM.GetParameter", `{"Name":"/aws/x"}`, 200, "application/x-amz-json-1.1",
		`{"Parameter":{"Name":"/aws/x","Type":"String","Version":1,"LastModifiedDate":1.5e9}}`}
	insert = exchange{"POST", project + "/zones/us-west1-a/instances" + insertID, "", "",
		`{"name":"m","labels":{"any":"thing"},"disks":[{"boot":true,"initializeParams":{"diskSizeGb":"10"}}],"scheduling":{"onHostMaintenance":"MIGRATE"}}`,
		200, "application/json; charset=UTF-8", `{"kind":"compute#operation","id":"18446744073709551615","status":"PENDING","progress":0}`}
	permissions = exchange{"POST", "https://crm.test/v3/projects/p:testIamPermissions", "", "", `{"permissions":["compute.instances.create"]}`,
		200, "application/json", `{"permissions":["compute.instances.create"]}`}
	list = exchange{"GET", project + "/global/networks?filter=name%3Dx&maxResults=5", "", "", "", 403, "application/json",
		`{"error":{"code":403,"message":"slower","errors":[{"domain":"usageLimits","reason":"rateLimitExceeded","message":"slower"}]}}`}
)

// swap returns an exchange in which some text is another one.
func (e exchange) swap(old, new string) exchange {
	for _, s := range []*string{&e.url, &e.target, &e.form, &e.answer, &e.kind, &e.method, &e.service} {
		*s = strings.ReplaceAll(*s, old, new)
	}
	return e
}

func (e exchange) with(status int) exchange { e.status = status; return e }

// objections lets a witness look at an exchange.
func (e exchange) objections(t *testing.T) (said []string, heard []model.Call) {
	t.Helper()
	r := httptest.NewRequest(e.method, e.url, strings.NewReader(e.form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if e.target != "" {
		r.Header.Set("Content-Type", "application/x-amz-json-1.1")
		r.Header.Set("X-Amz-Target", e.target)
	}
	if e.service != "" {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=K/20261130/eu-west-1/"+e.service+"/aws4_request, SignedHeaders=host, Signature=0")
	}
	w := &model.Witness{
		Next:   answering{t, e},
		Object: func(err error) { said = append(said, err.Error()) },
		Heard:  func(c model.Call) { heard = append(heard, c) },
	}
	resp, err := w.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != e.answer {
		t.Errorf("the answer arrives as %q, %v", body, err)
	}
	return said, heard
}

// answering is a door that always says the same.
type answering struct {
	t *testing.T
	exchange
}

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if sent, err := io.ReadAll(r.Body); err != nil || string(sent) != a.form {
		a.t.Errorf("the request arrives as %q, %v", sent, err)
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", a.kind)
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.answer)
	return w.Result(), nil
}

func TestRight(t *testing.T) {
	for _, e := range []exchange{describe, run, identity, parameter, insert, list, permissions} {
		said, heard := e.objections(t)
		if len(said) > 0 || len(heard) != 1 {
			t.Errorf("%s %s: %v, %v", e.method, e.url, heard, said)
		} else {
			t.Log(heard[0])
		}
	}
}

// TestWrong breaks an exchange in every way there is: each must be objected to.
func TestWrong(t *testing.T) {
	for name, tt := range map[string]struct {
		exchange
		want string // in the objection
	}{
		"ec2 no such call":          {describe.swap("Action=DescribeInstances", "Action=DescribeMachines"), `no call "DescribeMachines"`},
		"ec2 version":               {describe.swap("2016-11-15&", "2016-11-16&"), "version"},
		"ec2 verb":                  {describe.swap("POST", "PUT"), "want POST /"},
		"ec2 service":               {describe.swap("ec2", "ec3"), "no service"},
		"ec2 unknown parameter":     {describe.swap("DryRun", "DryrRun"), `no member "DryrRun"`},
		"ec2 parameter below":       {describe.swap("Filter.1.Name", "Filter.1.Named"), `Filter[] has no member "Named"`},
		"ec2 list as member":        {describe.swap("Filter.1.Value.1", "Filter.1.Value"), "Filter[].Value"},
		"ec2 list with a gap":       {describe.swap("Value.2", "Value.3"), `element "3", want 2`},
		"ec2 list from zero":        {describe.swap("Filter.1.", "Filter.0."), `element "0", want 1`},
		"ec2 list as XML has it":    {describe.swap("Filter.1.", "Filter.member.1."), `element "member", want 1`},
		"ec2 structure as text":     {describe.swap("Filter.1.Name=tag-key&Filter.1.Value.1=a&Filter.1.Value.2=b", "Filter.1=tag-key"), "want a structure"},
		"ec2 text as structure":     {describe.swap("DryRun=false", "DryRun.1=false"), "is a boolean"},
		"ec2 boolean":               {describe.swap("DryRun=false", "DryRun=no"), `"no" is no boolean`},
		"ec2 integer":               {describe.swap("MaxResults=5", "MaxResults=five"), "MaxResults"},
		"ec2 required":              {run.swap("&MaxCount=1", ""), "MaxCount is missing"},
		"ec2 enum":                  {run.swap("ResourceType=instance", "ResourceType=machine"), `"machine" is none of`},
		"ec2 blob":                  {run.swap(run.form, "Action=ImportKeyPair&Version=2016-11-15&KeyName=k&PublicKeyMaterial=%21"), "PublicKeyMaterial"},
		"ec2 twice":                 {run.swap("MinCount=1", "MinCount=1&MinCount=1"), "given 2 times"},
		"ec2 answer's root":         {describe.swap("DescribeInstancesResponse", "DescribeInstancesResult"), "the root is"},
		"ec2 answer's id":           {describe.swap("<requestId>r</requestId>", ""), "requestId is missing"},
		"ec2 answer's member":       {describe.swap("instanceId>", "InstanceId>"), `no member "InstanceId"`},
		"ec2 answer's member twice": {describe.swap("<instanceId>", "<instanceId>i-2</instanceId><instanceId>"), "instanceId is there twice"},
		"ec2 answer's item":         {describe.swap("item>", "member>"), `called "member", want "item"`},
		"ec2 answer's enum":         {describe.swap("running", "walking"), `"walking" is none of`},
		"ec2 answer's number":       {describe.swap("<code>16", "<code>big"), "code"},
		"ec2 answer's boolean":      {describe.swap("<ebsOptimized>false", "<ebsOptimized>0"), "is no boolean"},
		"ec2 answer's time":         {describe.swap("2026-11-30T10:00:00.000Z", "30 November"), "launchTime"},
		"ec2 answer's text":         {describe.swap("<reservationSet>", "<nextToken><x>y</x></nextToken><reservationSet>"), "has no member x"},
		"ec2 answer cut":            {describe.swap("</DescribeInstancesResponse>", ""), "EOF"},
		"ec2 error's frame":         {run.swap("<Response>", "<ErrorResponse>").swap("</Response>", "</ErrorResponse>"), "want Response"},
		"ec2 error without code":    {run.swap("Code>", "Cod>"), "without a code"},
		"ec2 error without id":      {run.swap("RequestID>", "RequestId>"), "request's id"},
		"sts answer unwrapped":      {identity.swap("<GetCallerIdentityResult>", "").swap("</GetCallerIdentityResult>", ""), `no member "Account"`},
		"sts answer without id":     {identity.swap("ResponseMetadata>", "Metadata>"), `no member "Metadata"`},
		"sts unknown parameter":     {identity.swap("&Version", "&X=1&Version"), `no member "X"`},
		"sts error's frame":         {identity.with(403), "want ErrorResponse"},
		"ssm target":                {parameter.swap("AmazonSSM", "SSM"), "target"},
		"ssm no such call":          {parameter.swap("GetParameter", "TakeParameter"), "no call"},
		"ssm unknown member":        {parameter.swap(`{"Name":"/aws/x"}`, `{"Name":"/aws/x","Nam":1}`), `no member "Nam"`},
		"ssm required":              {parameter.swap(`{"Name":"/aws/x"}`, `{}`), "Name is missing"},
		"ssm type":                  {parameter.swap(`{"Name":"/aws/x"}`, `{"Name":1}`), "JSON number, want string"},
		"ssm answer's member":       {parameter.swap("Version", "Vers"), `no member "Vers"`},
		"ssm answer's type":         {parameter.swap(`"Version":1`, `"Version":"1"`), "JSON string, want long"},
		"ssm answer's time":         {parameter.swap("1.5e9", `"2026-11-30T10:00:00Z"`), "want timestamp"},
		"ssm answer's enum":         {parameter.swap(`"Type":"String"`, `"Type":"Text"`), `"Text" is none of`},
		"ssm error":                 {parameter.with(400), "unknown field"},

		"gce no such path":         {list.swap("/global/networks", "/networks"), "no method has this path"},
		"gce verb":                 {list.swap("GET", "PUT"), "no method has this path"},
		"gce service":              {list.swap("/compute/v1/", "/compute/beta/"), "no method has this path"},
		"gce path pattern":         {insert.swap("us-west1-a", "US"), "zone in the path"},
		"gce unknown query":        {list.swap("filter", "filters"), `no query parameter "filters"`},
		"gce query of another":     {insert.swap("requestId", "filter"), `no query parameter "filter"`},
		"gce query's type":         {list.swap("maxResults=5", "maxResults=many"), "maxResults"},
		"gce query twice":          {list.swap("maxResults=5", "maxResults=5&maxResults=6"), "given 2 times"},
		"gce unknown member":       {insert.swap(`"boot"`, `"boots"`), `disks[] has no member "boots"`},
		"gce member in snake case": {insert.swap("initializeParams", "initialize_params"), "initialize_params"},
		"gce required":             {insert.swap(`"name":"m",`, ""), "name is missing"},
		"gce pattern":              {insert.swap(`"name":"m"`, `"name":"M"`), "does not match"},
		"gce int64 as number":      {insert.swap(`"diskSizeGb":"10"`, `"diskSizeGb":10`), "JSON number, want string"},
		"gce int64 as word":        {insert.swap(`"diskSizeGb":"10"`, `"diskSizeGb":"ten"`), "diskSizeGb"},
		"gce boolean":              {insert.swap(`"boot":true`, `"boot":"true"`), "want boolean"},
		"gce enum":                 {insert.swap("MIGRATE", "EMIGRATE"), `"EMIGRATE" is none of`},
		"gce list":                 {insert.swap(`[{"boot"`, `{"boot"`).swap(`}}]`, `}}`), "want array"},
		"gce map's value":          {insert.swap(`"any":"thing"`, `"any":1`), "labels.any"},
		"gce two bodies":           {insert.swap(`"MIGRATE"}}`, `"MIGRATE"}} {}`), "more than one"},
		"gce another method":       {permissions.swap(":testIamPermissions", ":test"), "no method has this path"},
		"gce answer's member":      {insert.swap("progress", "progres"), `no member "progres"`},
		"gce answer's enum":        {insert.swap("PENDING", "WAITING"), `"WAITING" is none of`},
		"gce answer's uint64":      {insert.swap("18446744073709551615", "-1"), "id"},
		"gce answer's kind":        {insert.swap("application/json", "text/html"), "content type"},
		"gce error's code":         {list.with(429), "not the answer's status"},
		"gce error's reason":       {list.swap(`"reason"`, `"why"`), "without a reason"},
	} {
		t.Run(name, func(t *testing.T) {
			said, _ := tt.objections(t)
			if len(said) == 0 || !strings.Contains(said[0], tt.want) {
				t.Errorf("objections %q, want one with %q", said, tt.want)
			}
		})
	}
}
