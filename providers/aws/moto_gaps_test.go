//go:build unix

package aws

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// diskSize says what EC2 takes from the image and moto does not.
const diskSize = "&BlockDeviceMapping.1.Ebs.VolumeSize=8"

// motoSpared are the calls that moto is not asked, and what is answered for it.
var motoSpared = map[string]string{
	// It knows no placement groups.
	"DescribePlacementGroups": "<placementGroupSet/>",
	// It keeps the association of a subnet that is gone, which holds the table.
	"AssociateRouteTable": "<associationId>rtbassoc-0</associationId>",
}

// spared answers for moto; nil: it can answer itself.
func spared(r *http.Request, body []byte) *http.Response {
	form, err := url.ParseQuery(string(body))
	call := form.Get("Action")
	inside, ok := motoSpared[call]
	if err != nil || !ok {
		return nil
	}
	answer := fmt.Sprintf(`<%sResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">%s</%[1]sResponse>`, call, inside)
	return &http.Response{
		StatusCode: http.StatusOK, Status: http.StatusText(http.StatusOK), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/xml"}}, ContentLength: int64(len(answer)),
		Body: io.NopCloser(strings.NewReader(answer)), Request: r,
	}
}

// readBody is all that a request says.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	return io.ReadAll(r.Body)
}
