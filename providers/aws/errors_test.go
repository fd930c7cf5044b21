package aws

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/antipode-bench/antipode/providers"
)

func apiError(status int, code, message string) error {
	return &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err:      &smithy.GenericAPIError{Code: code, Message: message},
	}
}

func TestClassify(t *testing.T) {
	tests := []struct {
		err  error
		want providers.Kind
	}{
		{apiError(503, "RequestLimitExceeded", ""), providers.Throttle},
		{apiError(400, "ThrottlingException", ""), providers.Throttle},
		{apiError(500, "InternalError", ""), providers.Temporary},
		{apiError(503, "Unavailable", ""), providers.Temporary},
		{apiError(502, "NewlyInvented", ""), providers.Temporary},
		{apiError(500, "InsufficientInstanceCapacity", ""), providers.Capacity},
		{apiError(400, "Unsupported", "not supported in your requested Availability Zone"), providers.Capacity},
		{apiError(400, "VcpuLimitExceeded", ""), providers.Quota},
		{apiError(400, "InvalidKeyPair.Duplicate", ""), providers.Exists},
		{apiError(400, "InvalidPermission.Duplicate", ""), providers.Exists},
		{apiError(400, "InvalidGroup.NotFound", ""), providers.NotFound},
		{apiError(400, "InvalidInstanceID.NotFound", ""), providers.NotFound},
		{apiError(400, "InvalidAMIID.NotFound", ""), providers.Skip},
		{apiError(400, "DependencyViolation", ""), providers.InUse},
		{apiError(400, "InvalidGroup.InUse", ""), providers.InUse},
		{apiError(401, "AuthFailure", ""), providers.Auth},
		{apiError(403, "UnauthorizedOperation", "no identity-based policy allows it"), providers.Auth},
		{apiError(403, "UnauthorizedOperation", "with an explicit deny in a service control policy"), providers.Skip},
		{apiError(400, "IdempotentParameterMismatch", ""), providers.Unknown},
		{apiError(400, "InvalidParameterValue", ""), providers.Unknown},
		{errors.New("not the API's"), providers.Unknown},
	}
	for _, tt := range tests {
		if got := classify(fmt.Errorf("operation error EC2: %w", tt.err)); got != tt.want {
			t.Errorf("classify(%v) = %s, want %s", tt.err, got, tt.want)
		}
	}
}

func TestPlain(t *testing.T) {
	err := plain(fmt.Errorf("operation error EC2: %w", apiError(400, "VcpuLimitExceeded", "You have requested more.")))
	if got, want := err.Error(), "VcpuLimitExceeded: You have requested more."; got != want {
		t.Errorf("plain = %q, want %q", got, want)
	}
	if classify(err) != providers.Quota || code(err) != "VcpuLimitExceeded" {
		t.Errorf("the plain error lost its meaning")
	}
	if other := errors.New("other"); plain(other) != other {
		t.Errorf("an error that is not the API's was changed")
	}
}
