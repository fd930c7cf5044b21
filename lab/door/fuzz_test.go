package door_test

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/antipode-bench/antipode/lab/door"
)

// FuzzAWS throws bodies at the door: whatever comes, the answer is well formed
// and never the door's own error.
func FuzzAWS(f *testing.F) {
	const image = "ImageId=resolve%3Assm%3A%2Faws%2Fservice%2Fdebian%2Frelease%2F12%2Flatest%2Famd64&InstanceType=t3.nano&MinCount=1&MaxCount=1"
	for _, body := range []string{
		"Action=RunInstances&" + image + "&UserData=IyEvYmluL3NoCg%3D%3D&TagSpecification.1.ResourceType=instance&TagSpecification.1.Tag.1.Key=k",
		"Action=RunInstances&" + image + "&NetworkInterface.1.DeviceIndex=0&BlockDeviceMapping.1.Ebs.DeleteOnTermination=true",
		"Action=DescribeInstances&Filter.1.Name=tag%3Ax&Filter.1.Value.1=%5B*&MaxResults=5&NextToken=ZnJvbTo1",
		"Action=CreateSecurityGroup&GroupName=g&GroupDescription=d",
		"Action=AuthorizeSecurityGroupIngress&GroupName=default&IpPermissions.1.IpProtocol=-1&IpPermissions.1.IpRanges.1.CidrIp=0.0.0.0%2F0",
		"Action=DescribeSecurityGroups&GroupName.1=default", "Action=DescribeVolumes", "Action=DescribeRegions&DryRun=true",
		"Action=TerminateInstances&InstanceId.1=i-0", "Action=DescribeImages&Owner.1=amazon&Filter.99999999999.Name=x",
	} {
		f.Add("ec2", "", body)
	}
	f.Add("ssm", "AmazonSSM.GetParameters", `{"Names":["/aws/service/debian/release/12/latest/amd64","x"]}`)
	f.Add("sts", "", "Action=GetCallerIdentity")
	f.Fuzz(func(t *testing.T, service, target, body string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=K/20261130/"+ireland+"/"+service+"/aws4_request, SignedHeaders=host, Signature=0")
		if target != "" {
			r.Header.Set("X-Amz-Target", target)
		}
		doors, _ := open(t, door.Options{Timing: &door.Timing{}})
		checkAnswer(t, doors.AWS(), r)
	})
}

// FuzzGCP does the same to the other door.
func FuzzGCP(f *testing.F) {
	const instance = `{"name":"m","machineType":"zones/us-west1-a/machineTypes/e2-small",
		"disks":[{"boot":true,"autoDelete":true,"initializeParams":{"sourceImage":"projects/debian-cloud/global/images/family/debian-12","diskSizeGb":"10"}}],
		"networkInterfaces":[{"network":"global/networks/default","accessConfigs":[{"type":"ONE_TO_ONE_NAT"}]}],
		"metadata":{"items":[{"key":"ssh-keys","value":"a:ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"}]},
		"scheduling":{"maxRunDuration":{"seconds":"60"},"instanceTerminationAction":"DELETE"}}`
	f.Add("POST", "zones/us-west1-a/instances", "requestId=5f0c6f2e-0c5d-4a37-9a52-0d5b8a0f3c11", instance)
	f.Add("POST", "global/networks", "", `{"name":"n","autoCreateSubnetworks":true}`)
	f.Add("POST", "global/firewalls", "", `{"name":"f","sourceRanges":["198.18.0.1"],"allowed":[{"IPProtocol":"tcp","ports":["22","1-9"]}]}`)
	f.Add("PATCH", "global/firewalls/default-allow-ssh", "", `{"sourceRanges":["198.18.0.1/32"]}`)
	f.Add("POST", "regions/us-west1/subnetworks", "", `{"name":"s","network":"global/networks/default","ipCidrRange":"10.0.0.0/24"}`)
	f.Add("GET", "global/firewalls", `filter=(name=default-*) AND NOT x OR "network":*&maxResults=1`, "")
	f.Add("GET", "aggregated/instances", "filter=name eq m.*&pageToken=ZnJvbTo1", "")
	f.Add("GET", "zones/us-west1-a", "", "")
	f.Fuzz(func(t *testing.T, method, path, query, body string) {
		r := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(body))
		r.Method = method
		r.URL = &url.URL{Path: "/compute/v1/projects/" + door.DefaultProject + "/" + path, RawQuery: query}
		if strings.HasSuffix(path, "/wait") {
			t.Skip("it would wait")
		}
		doors, _ := open(t, door.Options{Timing: &door.Timing{}})
		checkAnswer(t, doors.GCP(), r)
	})
}

func checkAnswer(t *testing.T, h http.Handler, r *http.Request) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code == http.StatusInternalServerError {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	if !wellFormed(w.Result()) {
		t.Errorf("malformed answer: %s", w.Body)
	}
}

func wellFormed(resp *http.Response) bool {
	kind := resp.Header.Get("Content-Type")
	switch {
	case strings.Contains(kind, "json"):
		return json.NewDecoder(resp.Body).Decode(new(any)) == nil
	case !strings.Contains(kind, "xml"):
		return true // the server's own: a redirect, or a method it does not know
	}
	dec := xml.NewDecoder(resp.Body)
	for {
		if _, err := dec.Token(); err != nil {
			return err == io.EOF
		}
	}
}
