package gce_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/iterator"
	"google.golang.org/protobuf/proto"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/rack"
	"github.com/antipode-bench/antipode/lab/vm/vmtest"
)

func (l *lab) guestAttributes(zone, name string) (*computepb.GuestAttributes, error) {
	return l.instances().GetGuestAttributes(l.t.Context(), &computepb.GetGuestAttributesInstanceRequest{
		Project: project, Zone: zone, Instance: name, QueryPath: proto.String("hostkeys/"),
	})
}

func TestInstanceLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.DefaultTiming())
		l.machines.StartDelay = time.Second
		op, err := l.insert(belgium, spec("m1", belgium, nil))
		if err != nil {
			t.Fatal(err)
		}
		if i, err := l.get(belgium, "m1"); err != nil || i.GetStatus() != "PROVISIONING" {
			t.Errorf("at once: %v, %v; want PROVISIONING", i.GetStatus(), err)
		}
		l.done(op, nil)
		i, err := l.get(belgium, "m1")
		if err != nil {
			t.Fatal(err)
		}
		nic := i.GetNetworkInterfaces()[0]
		if i.GetStatus() != "RUNNING" || nic.GetAccessConfigs()[0].GetNatIP() != "198.18.0.1" || nic.GetNetworkIP() != "10.0.0.1" {
			t.Errorf("instance = %v", i)
		}
		ids := l.machines.Running()
		m, _ := l.machines.Machine(ids[0])
		if m.Spec.User != "antipode" || !cmp.Equal(m.Spec.AuthorizedKeys, []string{key}) || m.Spec.Hostname != "m1" || m.Spec.Zone != belgium {
			t.Errorf("spec = %+v", m.Spec)
		}
		l.delete(belgium, "m1")
		_, err = l.get(belgium, "m1")
		wantFailure(t, err, http.StatusNotFound, "notFound")
		if left := l.door.Inventory(); len(left) > 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

func TestGuestAttributes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{Boot: rack.Range{Min: time.Minute, Max: time.Minute}})
		l.create(belgium, spec("m1", belgium, nil))
		l.create(belgium, spec("quiet", belgium, func(i *computepb.Instance) { i.Metadata.Items = i.Metadata.Items[:1] }))
		_, err := l.guestAttributes(belgium, "m1")
		wantFailure(t, err, http.StatusNotFound, "notFound")
		time.Sleep(time.Minute)
		synctest.Wait() // the boot ends in this very instant
		got, err := l.guestAttributes(belgium, "m1")
		if err != nil {
			t.Fatal(err)
		}
		item := got.GetQueryValue().GetItems()[0]
		if item.GetNamespace() != "hostkeys" || item.GetKey()+" "+item.GetValue() != vmtest.HostKey {
			t.Errorf("item = %v, want the host key", item)
		}
		_, err = l.guestAttributes(belgium, "quiet")
		wantFailure(t, err, http.StatusNotFound, "notFound")
	})
}

func TestGuestAttributesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		l.create(belgium, spec("m1", belgium, nil))
		warnings := func() (all []string) {
			for _, item := range l.door.Inventory() {
				all = append(all, item.Warnings...)
			}
			return all
		}
		for range 20 { // every seven seconds is slow enough
			_, _ = l.guestAttributes(belgium, "m1")
			time.Sleep(7 * time.Second)
		}
		if w := warnings(); w != nil {
			t.Errorf("warnings = %q, want none", w)
		}
		time.Sleep(time.Minute)
		for range 11 {
			if _, err := l.guestAttributes(belgium, "m1"); err != nil {
				t.Fatal(err)
			}
		}
		if w := warnings(); len(w) != 1 || !strings.Contains(w[0], "11 times") {
			t.Errorf("warnings = %q, want one of 11 reads", w)
		}
	})
}

func TestMaxRunDuration(t *testing.T) {
	for action, left := range map[string]int{"DELETE": 0, "STOP": 2} {
		t.Run(action, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := open(t, fault.Faults{}, brisk())
				l.create(belgium, spec("m1", belgium, func(i *computepb.Instance) {
					i.Scheduling = &computepb.Scheduling{
						MaxRunDuration: &computepb.Duration{Seconds: proto.Int64(60)}, InstanceTerminationAction: &action,
					}
				}))
				i, err := l.get(belgium, "m1")
				if err != nil || i.GetResourceStatus().GetScheduling().GetTerminationTimestamp() == "" {
					t.Errorf("get = %v, %v; want a planned end", i.GetResourceStatus(), err)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if running := l.machines.Running(); len(running) > 0 {
					t.Errorf("still running: %v", running)
				}
				if got := l.door.Inventory(); len(got) != left {
					t.Errorf("%d things left, want %d: %+v", len(got), left, got)
				}
			})
		})
	}
}

func TestHaltStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		l.create(belgium, spec("m1", belgium, nil))
		l.machines.Halt(l.machines.Running()[0])
		synctest.Wait()
		if i, err := l.get(belgium, "m1"); err != nil || i.GetStatus() != "TERMINATED" {
			t.Errorf("status = %v, %v; want TERMINATED", i.GetStatus(), err)
		}
		l.delete(belgium, "m1")
	})
}

func TestDeleteWhileStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		l.machines.StartDelay = time.Hour
		if _, err := l.insert(belgium, spec("m1", belgium, nil)); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		l.delete(belgium, "m1")
		if d := time.Since(start); d > time.Minute {
			t.Errorf("delete took %v", d)
		}
		if left := l.door.Inventory(); len(left) > 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

func TestOperationErrors(t *testing.T) {
	for kind, want := range map[fault.Kind]string{fault.Capacity: "ZONE_RESOURCE_POOL_EXHAUSTED", fault.Quota: "QUOTA_EXCEEDED"} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := open(t, fault.Faults{Calls: []fault.Call{{Place: fault.Place{Zone: belgium}, Call: "instances.insert", Kind: kind}}}, rack.DefaultTiming())
				op, err := l.insert(belgium, spec("m1", belgium, nil))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := l.get(belgium, "m1"); err != nil {
					t.Errorf("at once: %v, want it to be there", err)
				}
				if err := op.Wait(t.Context()); err == nil {
					t.Error("Wait = nil, want an error")
				}
				poll, err := client(l, newZoneOperations).Get(t.Context(), &computepb.GetZoneOperationRequest{Project: project, Zone: belgium, Operation: op.Name()})
				if err != nil || poll.GetError().GetErrors()[0].GetCode() != want {
					t.Errorf("operation = %v, %v; want %s", poll, err, want)
				}
				if left := l.door.Inventory(); len(left) > 0 {
					t.Errorf("left: %+v", left)
				}
				l.create("europe-west1-c", spec("m1", "europe-west1-c", nil))
			})
		})
	}
}

func TestStartError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		l.machines.StartError = refuse
		op, err := l.insert(belgium, spec("m1", belgium, nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := op.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "INTERNAL") {
			t.Errorf("Wait = %v, want an internal error", err)
		}
		if left := l.door.Inventory(); len(left) > 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

func TestRequestID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		insert := func(name, id string) (string, error) {
			op, err := l.instances().Insert(t.Context(), &computepb.InsertInstanceRequest{
				Project: project, Zone: belgium, InstanceResource: spec(name, belgium, nil), RequestId: &id,
			})
			if err != nil {
				return "", err
			}
			return op.Name(), nil
		}
		const id = "5f0c6f2e-0c5d-4a37-9a52-0d5b8a0f3c11"
		first, err := insert("m1", id)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := insert("m1", id); err != nil || again != first {
			t.Errorf("again: %s, %v; want %s", again, err, first)
		}
		_, err = insert("m2", id)
		wantFailure(t, err, http.StatusBadRequest, "invalid")
		_, err = insert("m2", "00000000-0000-0000-0000-000000000000")
		wantFailure(t, err, http.StatusBadRequest, "invalid")
		_, err = insert("m1", "5f0c6f2e-0c5d-4a37-9a52-0d5b8a0f3c12")
		wantFailure(t, err, http.StatusConflict, "alreadyExists")
	})
}

func TestInsertRefuses(t *testing.T) {
	l := open(t, fault.Faults{}, brisk()).unwatched()
	for name, c := range map[string]struct {
		edit   func(*computepb.Instance)
		status int
		reason string
	}{
		"Name":     {func(i *computepb.Instance) { i.Name = proto.String("Upper") }, 400, "invalid"},
		"Label":    {func(i *computepb.Instance) { i.Labels["Run"] = "x" }, 400, "invalid"},
		"LabelEnd": {func(i *computepb.Instance) { i.Labels["run"] = "2026-11-30T10:00" }, 400, "invalid"},
		"Type": {func(i *computepb.Instance) {
			i.MachineType = proto.String("zones/" + belgium + "/machineTypes/e9-huge")
		}, 400, "invalid"},
		"TypeZone": {func(i *computepb.Instance) { i.MachineType = proto.String("zones/us-west1-a/machineTypes/e2-small") }, 400, "invalid"},
		"Arch": {func(i *computepb.Instance) {
			i.MachineType = proto.String("zones/" + belgium + "/machineTypes/t2a-standard-1")
		}, 400, "invalid"},
		"Image": {func(i *computepb.Instance) {
			i.Disks[0].InitializeParams.SourceImage = proto.String("projects/debian-cloud/global/images/family/debian-7")
		}, 404, "notFound"},
		"Network": {func(i *computepb.Instance) { i.NetworkInterfaces[0].Network = proto.String("global/networks/none") }, 404, "notFound"},
		"RunShort": {func(i *computepb.Instance) {
			i.Scheduling = &computepb.Scheduling{MaxRunDuration: &computepb.Duration{Seconds: proto.Int64(29)}, InstanceTerminationAction: proto.String("DELETE")}
		}, 400, "invalid"},
		"RunAction": {func(i *computepb.Instance) {
			i.Scheduling = &computepb.Scheduling{MaxRunDuration: &computepb.Duration{Seconds: proto.Int64(60)}}
		}, 400, "invalid"},
		"Unknown": {func(i *computepb.Instance) { i.Hostname = proto.String("x.example") }, 400, "invalid"},
		"MetadataTwice": {func(i *computepb.Instance) {
			i.Metadata.Items = append(i.Metadata.Items, i.Metadata.Items[0])
		}, 400, "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := l.insert(belgium, spec("m1", belgium, c.edit))
			wantFailure(t, err, c.status, c.reason)
		})
	}
	if left := l.door.Inventory(); len(left) > 0 {
		t.Errorf("refused calls left %+v", left)
	}
}

func TestLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		want := []string{"m1", "m2", "m3", "m4"}
		for i, name := range want {
			l.create([]string{belgium, oregon}[i%2], spec(name, []string{belgium, oregon}[i%2], nil))
		}
		l.create(belgium, spec("other", belgium, func(i *computepb.Instance) { i.Labels = nil }))
		it := l.instances().AggregatedList(t.Context(), &computepb.AggregatedListInstancesRequest{
			Project: project, Filter: proto.String("labels.antipode-run=r1"), MaxResults: proto.Uint32(3),
		})
		got := map[string]bool{}
		for {
			pair, err := it.Next()
			if err == iterator.Done {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range pair.Value.GetInstances() {
				got[i.GetName()] = true
			}
			if w := pair.Value.GetWarning(); len(pair.Value.GetInstances()) == 0 && w.GetCode() != "NO_RESULTS_ON_PAGE" {
				t.Errorf("%s: warning = %v", pair.Key, w)
			}
		}
		if len(got) != len(want) || got["other"] {
			t.Errorf("aggregated = %v, want %v", got, want)
		}
		list := l.instances().List(t.Context(), &computepb.ListInstancesRequest{Project: project, Zone: belgium, MaxResults: proto.Uint32(1)})
		var names []string
		for i, err := range list.All() {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, i.GetName())
		}
		if diff := cmp.Diff([]string{"m1", "m3", "other"}, names); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
	})
}

func TestManyInsertsAtOnce(t *testing.T) {
	l := open(t, fault.Faults{}, rack.Timing{}).listen()
	l.machines.StartDelay = 200 * time.Millisecond
	start := time.Now()
	var inserts sync.WaitGroup
	instances := l.instances()
	operations := client(l, newZoneOperations)
	for n := range 43 {
		inserts.Go(func() {
			op, err := instances.Insert(t.Context(), &computepb.InsertInstanceRequest{
				Project: project, Zone: oregon, InstanceResource: spec("m"+string(rune('a'+n%26))+string(rune('a'+n/26)), oregon, nil),
			})
			if err != nil {
				t.Errorf("Insert = %v", err)
				return
			}
			done, err := operations.Wait(t.Context(), &computepb.WaitZoneOperationRequest{Project: project, Zone: oregon, Operation: op.Name()})
			if err != nil || done.GetStatus() != computepb.Operation_DONE || done.GetError() != nil {
				t.Errorf("Wait = %v, %v", done, err)
			}
		})
	}
	inserts.Wait()
	t.Logf("43 inserts, 200 ms each: %v", time.Since(start))
	if n := len(l.machines.Running()); n != 43 {
		t.Errorf("%d machines run, want 43", n)
	}
}

func TestDeleteAgainAfterStopError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		l.create(belgium, spec("m1", belgium, nil))
		l.machines.StopError = func(string) error { return errors.New("stuck") }
		op, err := l.instances().Delete(t.Context(), &computepb.DeleteInstanceRequest{Project: project, Zone: belgium, Instance: "m1"})
		if err != nil {
			t.Fatal(err)
		}
		if err := op.Wait(t.Context()); err == nil {
			t.Error("the operation of a failed delete went well")
		}
		l.machines.StopError = nil
		l.delete(belgium, "m1")
	})
}
