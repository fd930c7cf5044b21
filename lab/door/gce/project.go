package gce

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/antipode-bench/antipode/lab/door/fault"
)

type projectJSON struct {
	meta
	Metadata *metadataJSON `json:"commonInstanceMetadata"`
	Quotas   []quotaJSON   `json:"quotas"`
}

func (q *request) getProject() (any, error) {
	d := q.door
	m := meta{Kind: "compute#project", ID: idOf(d.project), Name: d.project, SelfLink: host + "projects/" + d.project}
	return &projectJSON{m, d.metadata(), d.projectQuotas()}, nil
}

// metadata is what the project tells all its machines.
func (d *Door) metadata() *metadataJSON {
	m := &metadataJSON{Kind: "compute#metadata", Fingerprint: "42WmSpB8rSM="}
	all := d.faults.Metadata()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		m.Items = append(m.Items, metadataItem{key, all[key]})
	}
	return m
}

// setting is a value of an instance's metadata, or else of its project's.
func (i *instance) setting(key string) string {
	if i.Metadata != nil && slices.ContainsFunc(i.Metadata.Items, func(item metadataItem) bool { return item.Key == key }) {
		return i.Metadata.get(key)
	}
	return i.door.metadata().get(key)
}

// checkPolicies refuses what the project's organisation forbids.
func (q *request) checkPolicies(i *instance, _ *instanceJSON) error {
	if i.public && q.door.faults.Forbids(fault.NoExternalAddress) {
		return q.violated(fault.NoExternalAddress)
	}
	if login := i.Metadata.get("enable-oslogin"); login != "" && !isTrue(login) && q.door.faults.Forbids(fault.RequireOSLogin) {
		return q.violated(fault.RequireOSLogin)
	}
	return nil
}

func (q *request) violated(policy string) *failure {
	return &failure{http.StatusPreconditionFailed, "conditionNotMet",
		fmt.Sprintf("Constraint constraints/%s violated for project %d.", policy, idOf(q.door.project))}
}

func (q *request) apiDisabled() *failure {
	return &failure{http.StatusForbidden, "accessNotConfigured", fmt.Sprintf("Compute Engine API has not been used in project %s before "+
		"or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/compute.googleapis.com/overview?project=%[1]s "+
		"then retry.", q.door.project)}
}

// handleProjectMethod answers Resource Manager's methods of a project, whose
// path ends in the method's name: "projects/NAME:testIamPermissions".
func (d *Door) handleProjectMethod(w http.ResponseWriter, r *http.Request) {
	project, method, _ := strings.Cut(r.PathValue("resource"), ":")
	if method != "testIamPermissions" {
		notFound("projects/" + r.PathValue("resource")).write(w)
		return
	}
	r.SetPathValue("project", project)
	d.handle(&route{call: "projects.testIamPermissions", answer: (*request).testPermissions, anyAPI: true})(w, r)
}

type permissionsJSON struct {
	Permissions []string `json:"permissions,omitempty"`
}

// testPermissions answers with those that the caller has.
func (q *request) testPermissions() (any, error) {
	var in permissionsJSON
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	denied := map[string]bool{}
	for _, rt := range routes() {
		if q.door.faults.Denies("gcp", rt.call) {
			denied[permission(rt.call)] = true
		}
	}
	return &permissionsJSON{slices.DeleteFunc(in.Permissions, func(p string) bool { return denied[p] })}, nil
}

// permission is what a call needs, of those named after it.
func permission(call string) string {
	resource, verb, _ := strings.Cut(call, ".")
	switch verb {
	case "insert":
		verb = "create"
	case "patch":
		verb = "update"
	case "aggregatedList":
		verb = "list"
	}
	return "compute." + resource + "." + verb
}
