package aws

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/providers"
)

// makePlacement makes a placement group, which no launch does, and marks it as
// the run's; as nobody's if runID is empty.
func makePlacement(t *testing.T, w *world, runID string) (name string) {
	t.Helper()
	defer w.asStranger()()
	in := &ec2.CreatePlacementGroupInput{GroupName: aws.String("near-" + runID), Strategy: types.PlacementStrategyCluster}
	if runID != "" {
		in.TagSpecifications = tagged(providers.Run{ID: runID, Expires: time.Now().Add(time.Hour)}, types.ResourceTypePlacementGroup)
	}
	if _, err := w.provider.region(ireland).ec2.CreatePlacementGroup(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	return *in.GroupName
}

// TestPlacementGroups: those of a run are listed and removed, others are not.
func TestPlacementGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, door.Faults{}, nil)
		ours := makePlacement(t, w, "r1")
		makePlacement(t, w, "r2")
		makePlacement(t, w, "")
		time.Sleep(providers.ListLag)
		list, err := w.provider.List(t.Context(), "r1", []string{ireland, ohio})
		if err != nil || len(list) != 1 || list[0].ID != ours || list[0].Kind != providers.PlacementGroup || list[0].RunID != "r1" {
			t.Errorf("List = %+v, %v; want %s", list, err, ours)
		}
		if err := w.provider.Destroy(t.Context(), "r1", []string{ireland, ohio}); err != nil {
			t.Errorf("Destroy: %v", err)
		}
		var left []string
		for _, item := range w.Doors.Inventory() {
			left = append(left, item.Name)
		}
		slices.Sort(left)
		if want := []string{"near-", "near-r2"}; !slices.Equal(left, want) {
			t.Errorf("left %q, want %q", left, want)
		}
	})
}
