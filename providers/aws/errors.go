package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/antipode-bench/antipode/providers"
)

// kinds are the codes with a meaning of their own, from the EC2 API reference's
// list of error codes; families go by suffix, the rest by HTTP status.
var kinds = map[string]providers.Kind{
	"RequestLimitExceeded":     providers.Throttle,
	"Throttling":               providers.Throttle,
	"ThrottlingException":      providers.Throttle,
	"TooManyRequestsException": providers.Throttle,
	"EC2ThrottledException":    providers.Throttle,

	"Unavailable":         providers.Temporary,
	"ServiceUnavailable":  providers.Temporary,
	"InternalError":       providers.Temporary,
	"InternalFailure":     providers.Temporary,
	"InternalServerError": providers.Temporary,
	"RequestTimeout":      providers.Temporary,

	"InsufficientInstanceCapacity":      providers.Capacity,
	"InsufficientHostCapacity":          providers.Capacity,
	"UnfulfillableCapacity":             providers.Capacity,
	"Unsupported":                       providers.Capacity, // the type, in this zone
	"InsufficientFreeAddressesInSubnet": providers.Capacity,

	"SpotMaxPriceTooLow": providers.Capacity,

	"VcpuLimitExceeded":                       providers.Quota,
	"InstanceLimitExceeded":                   providers.Quota,
	"MaxSpotInstanceCountExceeded":            providers.Quota,
	"VolumeLimitExceeded":                     providers.Quota,
	"SecurityGroupLimitExceeded":              providers.Quota,
	"VpcLimitExceeded":                        providers.Quota,
	"SubnetLimitExceeded":                     providers.Quota,
	"RouteTableLimitExceeded":                 providers.Quota,
	"InternetGatewayLimitExceeded":            providers.Quota,
	"RulesPerSecurityGroupLimitExceeded":      providers.Quota,
	"SecurityGroupsPerInterfaceLimitExceeded": providers.Quota,

	"DependencyViolation":     providers.InUse,
	"IncorrectInstanceState":  providers.InUse,
	"IncorrectState":          providers.InUse,
	"ResourceInUseException":  providers.InUse,
	"InvalidPermission.InUse": providers.InUse,

	"InvalidSubnet.Conflict":     providers.Exists, // ranges are always the same
	"RouteAlreadyExists":         providers.Exists,
	"Resource.AlreadyAssociated": providers.Exists,

	"ParameterNotFound":             providers.NotFound,
	"Gateway.NotAttached":           providers.NotFound,
	"InvalidPlacementGroup.Unknown": providers.NotFound,

	"InvalidAMIID.NotFound":    providers.Skip,
	"InvalidAMIID.Unavailable": providers.Skip,
	"PendingVerification":      providers.Skip,
	"VPCIdNotSpecified":        providers.Skip,
	"DefaultVpcDoesNotExist":   providers.Skip,

	"AuthFailure":          providers.Auth,
	"InvalidClientTokenId": providers.Auth,
	"AuthFailure.ServiceLinkedRoleCreationNotPermitted": providers.Auth, // spot's, once in an account
	"UnrecognizedClientException":                       providers.Auth,
	"SignatureDoesNotMatch":                             providers.Auth,
	"IncompleteSignature":                               providers.Auth,
	"MissingAuthenticationToken":                        providers.Auth,
	"RequestExpired":                                    providers.Auth,
	"ExpiredToken":                                      providers.Auth,
	"ExpiredTokenException":                             providers.Auth,
	"OptInRequired":                                     providers.Auth, // to the service, not to the region
	"Blocked":                                           providers.Auth,
	"UnauthorizedOperation":                             providers.Auth,
	"AccessDenied":                                      providers.Auth,
	"AccessDeniedException":                             providers.Auth,
	"TagPolicyViolation":                                providers.Auth,
}

var families = []struct {
	suffix string
	kind   providers.Kind
}{
	{".NotFound", providers.NotFound},
	{".Duplicate", providers.Exists},
	{".InUse", providers.InUse},
}

// classify says what to do about an error of the SDK; Unknown if it is none of
// the API's.
func classify(err error) providers.Kind {
	kind, known := kinds[code(err)]
	if known && kind == providers.Auth && byRegionPolicy(err) {
		return providers.Skip
	}
	if known {
		return kind
	}
	for _, f := range families {
		if strings.HasSuffix(code(err), f.suffix) {
			return f.kind
		}
	}
	if r, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && r.HTTPStatusCode() >= 500 {
		return providers.Temporary
	}
	return providers.Unknown
}

// code is the API's word for err, empty if the API did not answer.
func code(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode()
	}
	return ""
}

// plainError says what the API said. The SDK wraps it in 150 characters of
// service, status and request id, which belong in no result table.
type plainError struct {
	api smithy.APIError
	err error
}

func (e *plainError) Error() string { return e.api.ErrorCode() + ": " + e.api.ErrorMessage() }

func (e *plainError) Unwrap() error { return e.err }

func plain(err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return &plainError{api, err}
	}
	return err
}

// byRegionPolicy: organisations close regions with service control policies,
// and the message is the only place that says so.
func byRegionPolicy(err error) bool {
	return strings.Contains(err.Error(), "service control policy")
}

// ambiguous are the answers both to bad credentials and, with good ones, of a
// region that the account has not enabled.
var ambiguous = map[string]bool{
	"AuthFailure": true, "InvalidClientTokenId": true, "UnrecognizedClientException": true,
}

// clarify asks the home region who we are when a region does not know us: if
// that works, it is the region that is not for us. GetCallerIdentity needs no
// permission.
func (r *region) clarify(ctx context.Context, err error) error {
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || e.Kind != providers.Auth || !ambiguous[code(err)] {
		return err
	}
	ierr := providers.Do(ctx, r.caller, home(r.name), "GetCallerIdentity", func(ctx context.Context) error {
		_, err := r.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		return err
	})
	if ierr == nil {
		e.Kind, e.Err = providers.Skip, fmt.Errorf("the account has not enabled this region: %w", e.Err)
	}
	return err
}

// eventually repeats f for as long as the API has not heard of what it told us
// about a moment ago.
func (r *region) eventually(ctx context.Context, what string, f func(context.Context) error) error {
	err := f(ctx)
	if providers.KindOf(err) != providers.NotFound {
		return err
	}
	return providers.Poll(ctx, consistencyLimit, providers.Steady(), what, func(ctx context.Context) (bool, error) {
		err := f(ctx)
		if providers.KindOf(err) == providers.NotFound {
			return false, nil
		}
		return err == nil, err
	})
}
