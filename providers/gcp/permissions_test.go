package gcp

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/model"
	"github.com/antipode-bench/antipode/providers/providertest"
)

// readRole returns the permissions of the role that docs/permissions.md shows.
func readRole(t *testing.T) []string {
	t.Helper()
	var role struct {
		Title, Description, Stage string
		IncludedPermissions       []string `yaml:"includedPermissions"`
	}
	if err := yaml.Load(providertest.ReadManual(t).Block("yaml"), &role, yaml.WithKnownFields()); err != nil {
		t.Fatal(err)
	}
	return role.IncludedPermissions
}

// unneeded are calls that need no permission in the project.
var unneeded = map[string]string{
	"images.getFromFamily":        "everybody may read the public images",
	"projects.testIamPermissions": "tells what one has, to whoever asks",
}

// besides are the permissions of calls that need more than the one that is
// named after them.
var besides = map[string][]string{
	"instances.insert": {"compute.disks.create", "compute.disks.setLabels", "compute.instances.setLabels", "compute.instances.setMetadata",
		"compute.instances.setTags", "compute.subnetworks.use", "compute.subnetworks.useExternalIp"},
	"firewalls.insert": {"compute.networks.updatePolicy"},
	"firewalls.patch":  {"compute.networks.updatePolicy"},
	"firewalls.delete": {"compute.networks.updatePolicy"},
}

// needs are the permissions that a call needs.
func needs(call string) []string {
	if unneeded[call] != "" {
		return nil
	}
	if call == "projects.getXpnHost" {
		call = "projects.get"
	}
	resource, verb, _ := strings.Cut(call, ".")
	if word := map[string]string{"insert": "create", "patch": "update", "aggregatedList": "list"}[verb]; word != "" {
		verb = word
	}
	return append([]string{"compute." + resource + "." + verb}, besides[call]...)
}

// heard fails the test when the role lacks what a call needs.
func heard(t *testing.T) func(model.Call) {
	role := readRole(t)
	return func(c model.Call) {
		for _, p := range needs(c.Name) {
			if !slices.Contains(role, p) {
				t.Errorf("docs/permissions.md: the role lacks %s, which %s needs", p, c.Name)
			}
		}
	}
}

// TestPermissions holds docs/permissions.md against the calls of a run's whole
// life: the table says which part makes them, and the role has all of them and
// no others. A preflight asks for no others either.
func TestPermissions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		manual, role := providertest.ReadManual(t), readRole(t)
		diskStays := providertest.Rewrite(`"autoDelete":true`, `"autoDelete":false`)
		w := openWorld(t, door.Faults{}, diskStays)
		ledger := &providertest.Ledger{}
		check := w.witness.Heard
		w.witness.Heard = func(c model.Call) {
			check(c)
			for _, p := range needs(c.Name) {
				ledger.Note(p)
			}
		}
		suite().Live(t, w.provider, ledger)
		uses := ledger.Calls()
		if diff := cmp.Diff(uses, manual.Rows("compute.")); diff != "" {
			t.Errorf("the table of docs/permissions.md (-calls +table):\n%s", diff)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(uses)), role); diff != "" {
			t.Errorf("the role of docs/permissions.md (-calls +role):\n%s", diff)
		}
		maps.DeleteFunc(uses, func(_, parts string) bool { return parts == "doctor" })
		if diff := cmp.Diff(slices.Sorted(maps.Keys(uses)), permissions); diff != "" {
			t.Errorf("the permissions that a preflight asks for (-calls +asked):\n%s", diff)
		}
	})
}
