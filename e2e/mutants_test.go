package e2e

import (
	"testing"
	"time"
)

// mutant is the code without something that the kill test must miss: when to
// strike, and what it then finds left.
type mutant struct {
	file, from, to string
	when           func(*testing.T, *chaos, *started)
	resume         bool
	left           item // Cloud and Kind
}

// chaosMutants lack what nothing could be found again without.
var chaosMutants = map[string]mutant{
	"no record before the create": {
		"orchestrator/machine.go",
		"if err := must(m.fleet.journal.write(intent)); err != nil {\n\t\treturn err\n\t}", "_ = intent",
		// When every pair has a row, only the record tells where to tear down.
		func(t *testing.T, _ *chaos, s *started) { s.waitFor(t, "tearing down", time.Minute) }, true,
		item{Cloud: "aws", Kind: "security-group"},
	},
	"no tags on EC2 instances": {
		"providers/aws/launch.go",
		"TagSpecifications: tagged(spec.Run, made(spec)...)", "TagSpecifications: tagged(spec.Run, made(spec)[1:]...)",
		created("aws"), false,
		item{Cloud: "aws", Kind: "instance"},
	},
	"no tags on VPCs": {
		"providers/aws/ownvpc.go",
		"CidrBlock: aws.String(ownRange), TagSpecifications: tagged(run, types.ResourceTypeVpc)", "CidrBlock: aws.String(ownRange), TagSpecifications: tagged(run, types.ResourceTypeVpc)[1:]",
		created("aws"), false,
		item{Cloud: "aws", Kind: "network"},
	},
	"no labels on GCE instances": {
		"providers/gcp/instance.go",
		"Labels:      labels(spec.Run),\n\t\tTags:", "Tags:",
		created("gcp"), false,
		item{Cloud: "gcp", Kind: "instance"},
	},
}

// TestMutantsAreUpToDate: make chaos builds them; here they are only held
// against the code as it is.
func TestMutantsAreUpToDate(t *testing.T) {
	for name, m := range chaosMutants {
		if _, err := m.apply(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// created waits until the lab has a cloud's two instances.
func created(cloud string) func(*testing.T, *chaos, *started) {
	return func(t *testing.T, c *chaos, _ *started) {
		t.Helper()
		eventually(t, time.Minute, "instances of "+cloud, func() bool {
			n := 0
			for _, i := range c.inventory(t).left() {
				if i.Cloud == cloud && i.Kind == "instance" {
					n++
				}
			}
			return n == 2
		})
	}
}
