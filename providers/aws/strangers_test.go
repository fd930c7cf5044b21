package aws

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/lab/door"
)

// strangers are the tags of things that are not ours, however much they look
// like it.
var strangers = map[string]map[string]string{
	"antipode-r1-lookalike": nil,
	"named":                 {"Name": "antipode-r1"},
	"plural":                {"antipode-runs": "r1", "antipode-expires": "2026-01-01T00:00:00Z"},
	"capital":               {"Antipode-Run": "r1", "antipode-expires": "2026-01-01T00:00:00Z"},
	"own-word":              {"antipode-run": "r1"},
	"expiry-alone":          {"antipode-expires": "2026-01-01T00:00:00Z"},
	"longer":                {"antipode-run": "r1-b"},
}

// TestStrangersAreSafe: what Antipode did not make is neither listed nor removed.
func TestStrangersAreSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, door.Faults{}, nil)
		var want []string
		for _, name := range slices.Sorted(maps.Keys(strangers)) {
			want = append(want, makeStranger(t, w, name, strangers[name])...)
		}
		time.Sleep(time.Minute) // until every list shows them
		if _, err := w.provider.Launch(t.Context(), testSpec(t, ireland)); err != nil {
			t.Fatal(err)
		}
		for _, runID := range []string{"r1", ""} {
			list, err := w.provider.List(t.Context(), runID, []string{ireland, ohio})
			if err != nil || len(list) < 4 {
				t.Errorf("List = %v, %v; want what the run made", list, err)
			}
			for _, r := range list {
				if _, key := strangers[r.ID]; key || slices.Contains(want, r.ID) {
					t.Errorf("List of run %q has a stranger: %+v", runID, r)
				}
			}
		}
		if err := w.provider.Destroy(t.Context(), "r1", []string{ireland, ohio}); err != nil {
			t.Errorf("Destroy: %v", err)
		}
		var left []string
		for _, item := range w.Doors.Inventory().Alive() {
			if item.Kind != "disk" { // of the strangers' machines
				left = append(left, item.ID)
			}
		}
		slices.Sort(want)
		slices.Sort(left)
		if !slices.Equal(left, want) {
			t.Errorf("left %v, want the strangers and nothing else: %v", left, want)
		}
	})
}

// makeStranger makes a machine, a group and a key with tags, and returns their ids.
func makeStranger(t *testing.T, w *world, name string, tags map[string]string) []string {
	t.Helper()
	var list []types.Tag
	for k, v := range tags {
		list = append(list, types.Tag{Key: aws.String(k), Value: aws.String(v)})
	}
	tagged := func(kind types.ResourceType) []types.TagSpecification {
		if len(list) == 0 {
			return nil
		}
		return []types.TagSpecification{{ResourceType: kind, Tags: list}}
	}
	defer w.asStranger()()
	r := w.provider.region(ireland)
	image, err := r.image(t.Context(), DefaultMachineType)
	if err != nil {
		t.Fatal(err)
	}
	group, err := r.ec2.CreateSecurityGroup(t.Context(), &ec2.CreateSecurityGroupInput{GroupName: aws.String(name),
		Description: aws.String("not ours"), TagSpecifications: tagged(types.ResourceTypeSecurityGroup)})
	if err != nil {
		t.Fatal(err)
	}
	key, err := r.ec2.ImportKeyPair(t.Context(), &ec2.ImportKeyPairInput{KeyName: aws.String(name),
		PublicKeyMaterial: []byte(testSpec(t, ireland).AuthorizedKey), TagSpecifications: tagged(types.ResourceTypeKeyPair)})
	if err != nil {
		t.Fatal(err)
	}
	run, err := r.ec2.RunInstances(t.Context(), &ec2.RunInstancesInput{ImageId: aws.String(image), InstanceType: DefaultMachineType,
		MinCount: aws.Int32(1), MaxCount: aws.Int32(1), TagSpecifications: append(tagged(types.ResourceTypeInstance), tagged(types.ResourceTypeVolume)...)})
	if err != nil {
		t.Fatal(err)
	}
	return []string{aws.ToString(group.GroupId), aws.ToString(key.KeyPairId), aws.ToString(run.Instances[0].InstanceId)}
}
