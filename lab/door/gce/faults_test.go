package gce_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/antipode-bench/antipode/lab/door/fault"
)

func TestRefusals(t *testing.T) {
	for kind, want := range map[fault.Kind]struct {
		status int
		reason string
	}{
		fault.Throttle: {http.StatusForbidden, "rateLimitExceeded"},
		fault.Error500: {http.StatusInternalServerError, "backendError"},
		fault.Denied:   {http.StatusForbidden, "forbidden"},
		fault.Quota:    {http.StatusForbidden, "quotaExceeded"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			l := open(t, fault.Faults{Calls: []fault.Call{{Call: "firewalls.insert", Kind: kind, Count: 1}}}, brisk())
			_, err := l.insertFirewall(firewall("ssh", "default"))
			wantFailure(t, err, want.status, want.reason)
			if left := l.door.Inventory(); len(left) > 0 {
				t.Errorf("a refused call left %+v", left)
			}
			if _, err := l.insertFirewall(firewall("ssh", "default")); err != nil {
				t.Errorf("the second call: %v", err)
			}
		})
	}
}

func TestSilentDoor(t *testing.T) {
	l := open(t, fault.Faults{Calls: []fault.Call{{Call: "instances.get", Kind: fault.Silent}}}, brisk()).listen()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := l.instances().Get(ctx, &computepb.GetInstanceRequest{Project: project, Zone: belgium, Instance: "m1"})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want the caller's own deadline", err)
	}
}

func TestResetAfter(t *testing.T) {
	l := open(t, fault.Faults{Calls: []fault.Call{{Call: "instances.insert", Kind: fault.ResetAfter, Count: 1}}}, brisk()).listen()
	const id = "5f0c6f2e-0c5d-4a37-9a52-0d5b8a0f3c11"
	insert := func() error {
		requestID := id
		_, err := l.instances().Insert(t.Context(), &computepb.InsertInstanceRequest{
			Project: project, Zone: belgium, InstanceResource: spec("m1", belgium, nil), RequestId: &requestID,
		})
		return err
	}
	if err := insert(); err == nil {
		t.Error("the first call was answered")
	}
	if err := insert(); err != nil {
		t.Errorf("the second call: %v", err)
	}
}
