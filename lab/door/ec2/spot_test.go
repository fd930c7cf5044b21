package ec2_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/rack"
)

// TestSpotIsTaken: a spot machine goes when its time has come, and says why; an
// ordinary one stays.
func TestSpotIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{Machines: []fault.Machine{{SpotTakenAfterS: 20}}}, rack.Timing{Linger: time.Hour})
		spot := l.run(ireland, func(in *awsec2.RunInstancesInput) {
			in.InstanceMarketOptions = &types.InstanceMarketOptionsRequest{MarketType: types.MarketTypeSpot}
		})
		ordinary := l.run(ireland, nil)
		time.Sleep(19 * time.Second)
		if got := l.seen(spot); got.State.Name != types.InstanceStateNameRunning || got.InstanceLifecycle != types.InstanceLifecycleTypeSpot {
			t.Errorf("before: %s, lifecycle %q", got.State.Name, got.InstanceLifecycle)
		}
		time.Sleep(2 * time.Second)
		got := l.seen(spot)
		if got.State.Name != types.InstanceStateNameTerminated || aws.ToString(got.StateReason.Code) != "Server.SpotInstanceTermination" {
			t.Errorf("after: %s, %+v", got.State.Name, got.StateReason)
		}
		if got := l.seen(ordinary); got.State.Name != types.InstanceStateNameRunning || got.InstanceLifecycle != "" {
			t.Errorf("the ordinary one: %s, lifecycle %q", got.State.Name, got.InstanceLifecycle)
		}
		if running := l.machines.Running(); len(running) != 1 {
			t.Errorf("running: %v, want one", running)
		}
	})
}

func (l *lab) seen(id string) types.Instance {
	l.t.Helper()
	out, err := l.ec2(ireland).DescribeInstances(l.t.Context(), &awsec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		l.t.Fatal(err)
	}
	return out.Reservations[0].Instances[0]
}
