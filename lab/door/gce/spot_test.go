package gce_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/rack"
)

// TestSpotIsTaken: a spot machine goes, or stops, as was asked for; an ordinary
// one stays.
func TestSpotIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{Machines: []fault.Machine{{SpotTakenAfterS: 20}}}, rack.Timing{})
		spot := func(termination string) func(*computepb.Instance) {
			return func(i *computepb.Instance) {
				i.Scheduling = &computepb.Scheduling{ProvisioningModel: new("SPOT"), InstanceTerminationAction: &termination}
			}
		}
		l.create(belgium, spec("goes", belgium, spot("DELETE")))
		l.create(belgium, spec("stops", belgium, spot("STOP")))
		l.create(belgium, spec("stays", belgium, nil))
		time.Sleep(15 * time.Second)
		for name, want := range map[string]string{"goes": "SPOT", "stops": "SPOT", "stays": "STANDARD"} {
			if i, err := l.get(belgium, name); err != nil || i.GetStatus() != "RUNNING" || i.GetScheduling().GetProvisioningModel() != want {
				t.Errorf("%s is %s, %s, %v; want it RUNNING, %s", name, i.GetStatus(), i.GetScheduling().GetProvisioningModel(), err, want)
			}
		}
		time.Sleep(10 * time.Second)
		_, err := l.get(belgium, "goes")
		wantFailure(t, err, http.StatusNotFound, "notFound")
		for name, want := range map[string]string{"stops": "TERMINATED", "stays": "RUNNING"} {
			if i, err := l.get(belgium, name); err != nil || i.GetStatus() != want {
				t.Errorf("%s is %s, %v; want it %s", name, i.GetStatus(), err, want)
			}
		}
	})
}
