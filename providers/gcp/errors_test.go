package gcp

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/api/googleapi"

	"github.com/antipode-bench/antipode/providers"
)

func apiError(status int, reason, message string) error {
	return &googleapi.Error{Code: status, Message: message, Errors: []googleapi.ErrorItem{{Reason: reason, Message: message}}}
}

func TestClassify(t *testing.T) {
	operation := func(code, message string) error { return &operationError{code: code, message: message} }
	tests := []struct {
		err  error
		want providers.Kind
	}{
		{apiError(503, "backendError", ""), providers.Temporary},
		{apiError(403, "rateLimitExceeded", "Rate Limit Exceeded"), providers.Throttle},
		{apiError(429, "", ""), providers.Throttle},
		{apiError(403, "quotaExceeded", "Quota 'CPUS' exceeded. Limit: 24.0 in region us-east1."), providers.Quota},
		{apiError(403, "forbidden", "Quota 'CPUS_ALL_REGIONS' exceeded. Limit: 32.0 globally."), providers.Quota},
		{apiError(403, "forbidden", "Required 'compute.instances.create' permission"), providers.Auth},
		{apiError(401, "authError", ""), providers.Auth},
		{apiError(412, "conditionNotMet", "Constraint constraints/compute.vmExternalIpAccess violated for project 1"), providers.Skip},
		{apiError(409, "alreadyExists", ""), providers.Exists},
		{apiError(404, "notFound", ""), providers.NotFound},
		{apiError(400, "invalid", "Machine type with name 'c4-standard-2' does not exist in zone 'us-east1-d'."), providers.Capacity},
		{apiError(400, "resourceInUseByAnotherResource", ""), providers.InUse},
		{apiError(400, "resourceNotReady", ""), providers.Temporary},
		{apiError(503, "", "ZONE_RESOURCE_POOL_EXHAUSTED"), providers.Capacity},
		{apiError(400, "invalid", ""), providers.Unknown},
		{operation("ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", ""), providers.Capacity},
		{operation("ZONE_RESOURCE_POOL_EXHAUSTED", ""), providers.Capacity},
		{operation("QUOTA_EXCEEDED", "Quota 'IN_USE_ADDRESSES' exceeded."), providers.Quota},
		{operation("CONDITION_NOT_MET", "Constraint constraints/compute.requireOsLogin violated"), providers.Skip},
		{operation("RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", ""), providers.InUse},
		{operation("RESOURCE_NOT_FOUND", ""), providers.NotFound},
		{operation("NEWLY_INVENTED", ""), providers.Unknown},
		{errors.New("not the API's"), providers.Unknown},
	}
	for _, tt := range tests {
		if got := classify(fmt.Errorf("insert: %w", tt.err)); got != tt.want {
			t.Errorf("classify(%v) = %s, want %s", tt.err, got, tt.want)
		}
	}
}

func TestOutcome(t *testing.T) {
	tests := []struct {
		name string
		op   *computepb.Operation
		want providers.Kind // empty: it succeeded
	}{
		{"success", &computepb.Operation{}, ""},
		{"code without a status, which the SDK takes for success",
			&computepb.Operation{Error: &computepb.Error{Errors: []*computepb.Errors{{Code: new("QUOTA_EXCEEDED")}}}}, providers.Quota},
		{"status without a code", &computepb.Operation{HttpErrorStatusCode: new(int32(503))}, providers.Temporary},
		{"both", &computepb.Operation{HttpErrorStatusCode: new(int32(403)),
			Error: &computepb.Error{Errors: []*computepb.Errors{{Code: new("ZONE_RESOURCE_POOL_EXHAUSTED")}}}}, providers.Capacity},
	}
	for _, tt := range tests {
		err := outcome(tt.op)
		if (err == nil) != (tt.want == "") || err != nil && classify(err) != tt.want {
			t.Errorf("%s: %v, want kind %q", tt.name, err, tt.want)
		}
	}
}

func TestImageAndDisk(t *testing.T) {
	for machineType, want := range map[string][2]string{
		"e2-small":       {"debian-12", "pd-standard"},
		"n2d-standard-2": {"debian-12", "pd-standard"},
		"t2d-standard-1": {"debian-12", "pd-standard"},
		"t2a-standard-1": {"debian-12-arm64", "pd-standard"},
		"c4a-standard-1": {"debian-12-arm64", "hyperdisk-balanced"},
		"n4-standard-2":  {"debian-12", "hyperdisk-balanced"},
		"c3-standard-4":  {"debian-12", "pd-standard"},
	} {
		if got := image(machineType); last(got) != want[0] {
			t.Errorf("image(%s) = %s, want %s", machineType, got, want[0])
		}
		if got := diskType(machineType); got != want[1] {
			t.Errorf("diskType(%s) = %s, want %s", machineType, got, want[1])
		}
	}
}

func TestDescription(t *testing.T) {
	run := providers.Run{ID: "r1", Expires: time.Unix(1796000000, 0)}
	labels := described(description(run))
	if !matches(labels, "r1") || matches(labels, "r1-b") || !matches(labels, "") || !expiry(labels).Equal(run.Expires) {
		t.Errorf("%q reads back as %v", description(run), labels)
	}
	if matches(described("Default network for the project"), "") {
		t.Errorf("a stranger's network is taken for ours")
	}
}

func TestMissing(t *testing.T) {
	a, b := netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("2001:db8::1")
	rules := []*computepb.Firewall{{SourceRanges: []string{"198.18.0.1/32"}, Allowed: []*computepb.Allowed{allow("tcp", 8462)}}}
	if got := missing(rules, 8462, []netip.Addr{a, b, b}); len(got) != 1 || got[0] != b {
		t.Errorf("missing = %v, want %v once", got, b)
	}
	if got := missing(rules, 22, []netip.Addr{a}); len(got) != 1 {
		t.Errorf("missing for another port = %v, want %v", got, a)
	}
	var many []netip.Addr
	for p := a; len(many) < 300; p = p.Next() {
		many = append(many, p)
	}
	if got := chunks(append(many, b)); len(got) != 3 || len(got[0]) != 250 || len(got[1]) != 50 || len(got[2]) != 1 {
		t.Errorf("chunks of 300 and an IPv6 one = %d", len(got))
	}
}
