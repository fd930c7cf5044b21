package main

import "testing"

func TestCleanupCommand(t *testing.T) {
	both := []string{"aws", "gcp"}
	for name, test := range map[string]struct {
		flags  sweepFlags
		clouds []string
		want   string
	}{
		"real clouds": {sweepFlags{}, both, "antipode cleanup --run r1 --clouds aws,gcp"},
		"accounts": {sweepFlags{awsProfile: "team one", gcpProject: "p-1"}, both,
			"antipode cleanup --run r1 --clouds aws,gcp '--aws-profile=team one' --gcp-project=p-1"},
		"a role": {sweepFlags{awsRole: "arn:aws:iam::123456789012:role/net/sweeper"}, []string{"aws"},
			"antipode cleanup --run r1 --clouds aws --aws-role=arn:aws:iam::123456789012:role/net/sweeper"},
		"a lab": {sweepFlags{labName: "demo"}, []string{"aws"}, "antipode cleanup --run r1 --clouds aws --lab=demo"},
		"regions of one's own": {sweepFlags{lab: labFlags{regionsFile: "it's.yaml"}}, both,
			`antipode cleanup --run r1 --clouds aws,gcp '--regions-file=it'\''s.yaml'`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.flags.cleanupCommand("antipode", "r1", test.clouds); got != test.want {
				t.Errorf("command = %s, want %s", got, test.want)
			}
		})
	}
}
