//go:build unix

package aws

import (
	"io"
	"net/http"
	"strings"
)

// diskSize says what EC2 takes from the image and moto does not.
const diskSize = "&BlockDeviceMapping.1.Ebs.VolumeSize=8"

// noPlacementGroups answers for moto, which knows none, that there are none.
func noPlacementGroups(r *http.Request) *http.Response {
	const none = `<DescribePlacementGroupsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><placementGroupSet/></DescribePlacementGroupsResponse>`
	return &http.Response{
		StatusCode: http.StatusOK, Status: http.StatusText(http.StatusOK), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/xml"}}, ContentLength: int64(len(none)),
		Body: io.NopCloser(strings.NewReader(none)), Request: r,
	}
}

// readBody is all that a request says.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	return io.ReadAll(r.Body)
}
