package aws

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/doortest"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/providers"
)

const (
	labRole     = "arn:aws:iam::000000000042:role/net/sweeper"
	foreignRole = "arn:aws:iam::123456789012:role/sweeper"
)

// inRole gives a provider that assumes a role behind w's doors.
func (w *world) inRole(t *testing.T, role string) (*Provider, error) {
	return New(t.Context(), Options{Endpoint: endpoint, Role: role,
		HTTPClient:  &http.Client{Transport: doortest.Direct(w.Doors.AWS())},
		Credentials: credentials.NewStaticCredentialsProvider("AKIALAB", "secret", "")})
}

func TestAssumeRole(t *testing.T) {
	for name, c := range map[string]struct {
		role   string
		faults door.Faults
		want   providers.Kind // empty: the role can be used
	}{
		"fair weather":      {labRole, door.Faults{}, ""},
		"throttled":         {labRole, assumeFault(fault.Throttle, 2), ""},
		"server errors":     {labRole, assumeFault(fault.Error500, 2), ""},
		"answer lost":       {labRole, assumeFault(fault.ResetAfter, 1), ""},
		"silent once":       {labRole, assumeFault(fault.Silent, 1), ""},
		"not allowed":       {labRole, assumeFault(fault.Denied, 0), providers.Auth},
		"another account's": {foreignRole, door.Faults{}, providers.Auth},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := openWorld(t, c.faults, nil).inRole(t, c.role)
				if c.want == "" {
					checkUsable(t, p, err)
					return
				}
				if e, ok := errors.AsType[*providers.Error](err); !ok || e.Kind != c.want || e.Op != "AssumeRole" {
					t.Errorf("err = %v, want one of kind %q", err, c.want)
				}
			})
		})
	}
}

func assumeFault(kind fault.Kind, count int) door.Faults {
	return door.Faults{Calls: []fault.Call{{Call: "AssumeRole", Kind: kind, Count: count}}}
}

func checkUsable(t *testing.T, p *Provider, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.List(t.Context(), "r1", []string{ireland, ohio}); err != nil {
		t.Errorf("List in the role: %v", err)
	}
}

// TestRoleIsRenewed: a sweep outlasts a session, which the door lets nobody use
// after its end.
func TestRoleIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := openWorld(t, door.Faults{}, nil).inRole(t, labRole)
		for range 3 {
			checkUsable(t, p, err)
			time.Sleep(sessionLength - time.Minute)
		}
	})
}

func TestCheckRole(t *testing.T) {
	for arn, want := range map[string]bool{
		labRole: true, "arn:aws-cn:iam::123456789012:role/x": true,
		"": false, "sweeper": false, "arn:aws:iam::1234:role/x": false, "arn:aws:iam::123456789012:user/x": false,
		"arn:aws:iam::123456789012:role/" + strings.Repeat("x", 600): false,
	} {
		if err := CheckRole(arn); (err == nil) != want {
			t.Errorf("CheckRole(%q) = %v", arn, err)
		}
	}
}

func TestHome(t *testing.T) {
	for of, want := range map[string]string{
		"": "us-east-1", "eu-west-1": "us-east-1", "cn-northwest-1": "cn-north-1",
		labRole: "us-east-1", "arn:aws-us-gov:iam::123456789012:role/x": "us-gov-west-1",
	} {
		if got := home(of); got != want {
			t.Errorf("home(%q) = %s, want %s", of, got, want)
		}
	}
}
