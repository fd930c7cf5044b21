package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBadInput: every wrong wish ends soon with a message that names it, before
// anything is started or written.
func TestBadInput(t *testing.T) {
	u := self(t)
	badYAML := filepath.Join(u.dir, "bad.yaml")
	unknownKey := filepath.Join(u.dir, "unknown.yaml")
	closed := filepath.Join(u.dir, "closed")
	write(t, badYAML, "regions:\n- {cloud: aws\n")
	write(t, unknownKey, "regions:\n- {cloud: aws, region: x-1, place: X, country: US, latitude: 1, longitude: 2, confidence: high, altitude: 3}\n")
	write(t, closed, "a file, not a folder")
	for name, test := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"unknown region":        {[]string{"sweep", "--lab", "--regions", "aws:us-east-1,aws:us-eats-2"}, 2, []string{"us-eats-2", "us-east-2"}},
		"malformed pair":        {[]string{"sweep", "--lab", "--pairs", "aws:us-east-1"}, 2, []string{"--pairs", "aws:us-east-1"}},
		"pair within a region":  {[]string{"sweep", "--lab", "--pairs", "aws:us-east-1>aws:us-east-1"}, 2, []string{"--pairs", "us-east-1"}},
		"malformed cloud pair":  {[]string{"sweep", "--lab", "--cloud-pairs", "aws-gcp"}, 2, []string{"--cloud-pairs", "aws-gcp"}},
		"unknown cloud":         {[]string{"sweep", "--lab", "--clouds", "oracle"}, 2, []string{"--clouds", "oracle"}},
		"min above max":         {[]string{"sweep", "--lab", "--min-km", "500", "--max-km", "100"}, 2, []string{"--min-km", "500", "--max-km"}},
		"empty selection":       {[]string{"sweep", "--lab", "--regions", six, "--min-km", "20000"}, 2, []string{"--min-km"}},
		"pairs and filters":     {[]string{"sweep", "--lab", "--pairs", "aws:us-east-1>gcp:us-east4", "--min-km", "5"}, 2, []string{"--pairs", "--min-km"}},
		"broken YAML":           {[]string{"sweep", "--lab", "--regions-file", badYAML}, 2, []string{"bad.yaml:"}},
		"unknown key":           {[]string{"sweep", "--lab", "--regions-file", unknownKey}, 2, []string{"unknown.yaml:2", "altitude"}},
		"no such YAML":          {[]string{"regions", "--regions-file", "nowhere.yaml"}, 2, []string{"nowhere.yaml"}},
		"results folder":        {[]string{"sweep", "--lab", "--max-regions", "2", "--out", closed}, 1, []string{"--out", "closed"}},
		"unknown flag":          {[]string{"sweep", "--labb"}, 2, []string{"--labb"}},
		"unknown command":       {[]string{"swep"}, 2, []string{"swep"}},
		"bytes":                 {[]string{"sweep", "--lab", "--bytes", "10 MBit"}, 2, []string{"--bytes", "10 MBit"}},
		"duration":              {[]string{"sweep", "--lab", "--duration", "-1s"}, 2, []string{"--duration"}},
		"streams":               {[]string{"sweep", "--lab", "--streams", "0"}, 2, []string{"--streams"}},
		"machine type":          {[]string{"sweep", "--lab", "--machine-type", "azure=b1"}, 2, []string{"--machine-type", "azure"}},
		"no such lab":           {[]string{"sweep", "--lab=nowhere", "--max-regions", "2"}, 2, []string{"nowhere", "antipode lab up"}},
		"lab name":              {[]string{"lab", "up", "../x"}, 2, []string{"../x"}},
		"lab without a name":    {[]string{"lab", "down"}, 2, []string{"lab down NAME"}},
		"lab without a value":   {[]string{"sweep", "--lab=", "--yes", "--max-regions", "2"}, 2, []string{"--lab", "empty"}},
		"lab after a space":     {[]string{"sweep", "--lab", "demo"}, 2, []string{"demo", "--lab=NAME"}},
		"name of a lab":         {[]string{"sweep", "--lab=a b", "--max-regions", "2"}, 2, []string{"--lab=a b"}},
		"down no name":          {[]string{"lab", "down", "../x"}, 2, []string{"../x"}},
		"truth of a folder":     {[]string{"lab", "truth", "/"}, 2, []string{"neither a run"}},
		"regions unset":         {[]string{"sweep", "--lab", "--regions", ""}, 2, []string{"--regions", "empty"}},
		"pairs unset":           {[]string{"sweep", "--lab", "--pairs", ""}, 2, []string{"--pairs", "empty"}},
		"project unset":         {[]string{"sweep", "--lab", "--gcp-project", ""}, 2, []string{"--gcp-project", "empty"}},
		"regions of commas":     {[]string{"sweep", "--lab", "--regions", ",,"}, 2, []string{`--regions ""`}},
		"endless region":        {[]string{"sweep", "--lab", "--regions", strings.Repeat("x", 5000)}, 2, []string{"xxx…:"}},
		"machine type twice":    {[]string{"sweep", "--lab", "--machine-type", "aws=t3.nano,t3.nano"}, 2, []string{"--machine-type", "twice"}},
		"another region's zone": {[]string{"sweep", "--lab", "--zone", "us-east-1=us-west-2a"}, 2, []string{"--zone", "us-west-2a", "no zone of us-east-1"}},
		"zone of no region":     {[]string{"sweep", "--lab", "--regions", six, "--zone", "us-east-2=us-east-2a"}, 2, []string{"--zone", "us-east-2"}},
		"network tier":          {[]string{"sweep", "--lab", "--network-tier", "gold"}, 2, []string{"--network-tier", "gold"}},
		"path":                  {[]string{"sweep", "--lab", "--max-regions", "2", "--path", "secret"}, 2, []string{"--path", "secret"}},
		"IP version":            {[]string{"sweep", "--lab", "--ip", "5"}, 2, []string{"--ip 5", "4 or 6"}},
		"private IPv6":          {[]string{"sweep", "--lab", "--ip", "6", "--path", "private"}, 2, []string{"--ip 6", "--path private"}},
		"standard IPv6":         {[]string{"sweep", "--lab", "--ip", "6", "--network-tier", "standard"}, 2, []string{"--ip 6", "--network-tier standard"}},
		"no private path":       {[]string{"sweep", "--lab", "--clouds", "aws", "--max-regions", "2", "--path", "private"}, 2, []string{"--path private", "Google Cloud"}},
		"odd machine type":      {[]string{"sweep", "--lab", "--machine-type", "gcp=a?b"}, 2, []string{"--machine-type", "a?b"}},
		"congestion control":    {[]string{"sweep", "--lab", "--congestion-control", "bbr;reboot"}, 2, []string{"--congestion-control", "bbr;reboot"}},
		"short duration":        {[]string{"sweep", "--lab", "--duration", "1ns"}, 2, []string{"--duration", "1ns"}},
		"short life":            {[]string{"sweep", "--lab", "--max-time", "1ns"}, 2, []string{"--max-time", "1ns"}},
		"tag":                   {[]string{"sweep", "--lab", "--tag", "team"}, 2, []string{"--tag", "team", "KEY=VALUE"}},
		"tag of one cloud":      {[]string{"sweep", "--lab", "--max-regions", "2", "--tag", "Team=Net"}, 2, []string{"--tag", "Google Cloud", "Team=Net"}},
		"tag of ours":           {[]string{"sweep", "--lab", "--max-regions", "2", "--tag", "antipode-run=x"}, 2, []string{"--tag", "antipode-run"}},
		"role":                  {[]string{"cleanup", "--all", "--aws-role", "sweeper"}, 2, []string{"--aws-role", "sweeper", "arn:aws:iam"}},
		"endless life":          {[]string{"sweep", "--lab", "--max-time", "9999h"}, 2, []string{"--max-time", "9999h"}},
		"infinite distance":     {[]string{"regions", "--from", "aws:us-east-1", "--max-km", "inf"}, 2, []string{"--max-km"}},
		"truth of nothing":      {[]string{"lab", "truth", "nothing"}, 2, []string{"nothing"}},
		"cleanup of what":       {[]string{"cleanup"}, 2, []string{"--run", "--expired", "--all"}},
		"cleanup twice over":    {[]string{"cleanup", "--all", "--expired"}, 2, []string{"--all", "--expired"}},
		"cleanup of bad run":    {[]string{"cleanup", "--run", "../x"}, 2, []string{"--run", "../x"}},
		"cleanup of a cloud":    {[]string{"cleanup", "--all", "--clouds", "oracle"}, 2, []string{"--clouds", "oracle"}},
		"cleanup in no lab":     {[]string{"cleanup", "--all", "--lab", "nowhere"}, 2, []string{"nowhere"}},
		"no such hosts":         {[]string{"sweep", "--hosts", "nowhere.yaml"}, 2, []string{"--hosts", "nowhere.yaml"}},
		"unknown key of hosts":  {[]string{"sweep", "--hosts", unknownKey}, 2, []string{"unknown.yaml:1", "regions"}},
		"hosts of a lab":        {[]string{"sweep", "--hosts", "hosts.yaml", "--lab"}, 2, []string{"--hosts", "--lab"}},
		"nobody to confirm":     {[]string{"sweep", "--regions", "aws:us-east-1,aws:us-east-2"}, 2, []string{"--yes"}},
		"no AWS credentials":    {[]string{"sweep", "--yes", "--ssh-from", "192.0.2.1", "--regions", "aws:us-east-1,aws:us-east-2"}, 1, []string{"aws", "AWS_PROFILE", "--lab"}},
		"no GCP credentials":    {[]string{"sweep", "--yes", "--ssh-from", "192.0.2.1", "--regions", "gcp:us-east1,gcp:us-east4"}, 1, []string{"gcp", "GOOGLE_APPLICATION_CREDENTIALS", "--lab"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := u.run(t, 30*time.Second, test.args...)
			o.want(t, test.code, test.says...)
			if left, _ := filepath.Glob(filepath.Join(u.dir, "runs", "*")); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// TestRegions checks the listing that choosing begins with.
func TestRegions(t *testing.T) {
	u := self(t)
	u.run(t, time.Minute, "regions").want(t, 0, "aws:us-east-1", "gcp:us-east4", "azure:eastus", "opt-in")
	near := u.run(t, time.Minute, "regions", "--clouds", "aws,gcp", "--from", "aws:eu-central-1", "--max-km", "10")
	near.want(t, 0, "gcp:europe-west3", "RTT IN FIBRE")
	u.run(t, time.Minute, "regions", "--csv", "--continents", "africa").want(t, 0, "cloud,region,place", "africa-south1")
	u.run(t, time.Minute, "regions", "--match", "atlantis").want(t, 2, "no region is left")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
