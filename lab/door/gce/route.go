package gce

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/antipode-bench/antipode/lab/door/fault"
)

// route is one method of the API.
type route struct {
	pattern    string // below /compute/v1/projects/{project}
	call       string // as the API spells it
	answer     func(*request) (any, error)
	query      []string // parameters it takes beside everyQuery
	anyProject bool     // also in the projects of the public images
	anyAPI     bool     // of another API than Compute Engine's
	waits      bool     // does not hold the door's lock: it blocks
}

const base = "/compute/v1/projects/{project}"

func routes() []*route {
	const (
		z = "/zones/{zone}"
		r = "/regions/{region}"
		g = "/global"
	)
	return []*route{
		{pattern: "GET ", call: "projects.get", answer: (*request).getProject},
		{pattern: "GET /getXpnHost", call: "projects.getXpnHost", answer: (*request).getXpnHost},
		{pattern: "GET /zones", call: "zones.list", answer: (*request).listZones, query: listQuery},
		{pattern: "GET " + z, call: "zones.get", answer: (*request).getZone},
		{pattern: "GET /regions", call: "regions.list", answer: (*request).listRegions, query: listQuery},
		{pattern: "GET " + r, call: "regions.get", answer: (*request).getRegion},
		{pattern: "GET " + z + "/machineTypes", call: "machineTypes.list", answer: (*request).listMachineTypes, query: listQuery},
		{pattern: "GET /aggregated/machineTypes", call: "machineTypes.aggregatedList", answer: (*request).aggregateMachineTypes, query: listQuery},
		{pattern: "GET " + z + "/machineTypes/{name}", call: "machineTypes.get", answer: (*request).getMachineType},
		{pattern: "GET " + g + "/images/family/{name}", call: "images.getFromFamily", answer: (*request).getImageFromFamily, anyProject: true},
		{pattern: "GET " + g + "/images/{name}", call: "images.get", answer: (*request).getImage, anyProject: true},

		{pattern: "POST " + z + "/instances", call: "instances.insert", answer: (*request).insertInstance, query: changeQuery},
		{pattern: "GET " + z + "/instances", call: "instances.list", answer: (*request).listInstances, query: listQuery},
		{pattern: "GET /aggregated/instances", call: "instances.aggregatedList", answer: (*request).aggregateInstances, query: listQuery},
		{pattern: "GET " + z + "/instances/{name}", call: "instances.get", answer: (*request).getInstance},
		{pattern: "DELETE " + z + "/instances/{name}", call: "instances.delete", answer: (*request).deleteInstance, query: changeQuery},
		{pattern: "GET " + z + "/instances/{name}/getGuestAttributes", call: "instances.getGuestAttributes", answer: (*request).getGuestAttributes, query: guestQuery},

		{pattern: "GET " + z + "/disks", call: "disks.list", answer: (*request).listDisks, query: listQuery},
		{pattern: "GET /aggregated/disks", call: "disks.aggregatedList", answer: (*request).aggregateDisks, query: listQuery},
		{pattern: "GET " + z + "/disks/{name}", call: "disks.get", answer: (*request).getDisk},
		{pattern: "DELETE " + z + "/disks/{name}", call: "disks.delete", answer: (*request).deleteDisk, query: changeQuery},

		{pattern: "POST " + g + "/networks", call: "networks.insert", answer: (*request).insertNetwork, query: changeQuery},
		{pattern: "GET " + g + "/networks", call: "networks.list", answer: (*request).listNetworks, query: listQuery},
		{pattern: "GET " + g + "/networks/{name}", call: "networks.get", answer: (*request).getNetwork},
		{pattern: "DELETE " + g + "/networks/{name}", call: "networks.delete", answer: (*request).deleteNetwork, query: changeQuery},

		{pattern: "POST " + r + "/subnetworks", call: "subnetworks.insert", answer: (*request).insertSubnetwork, query: changeQuery},
		{pattern: "GET " + r + "/subnetworks", call: "subnetworks.list", answer: (*request).listSubnetworks, query: listQuery},
		{pattern: "GET /aggregated/subnetworks", call: "subnetworks.aggregatedList", answer: (*request).aggregateSubnetworks, query: listQuery},
		{pattern: "GET " + r + "/subnetworks/{name}", call: "subnetworks.get", answer: (*request).getSubnetwork},
		{pattern: "DELETE " + r + "/subnetworks/{name}", call: "subnetworks.delete", answer: (*request).deleteSubnetwork, query: changeQuery},

		{pattern: "POST " + g + "/firewalls", call: "firewalls.insert", answer: (*request).insertFirewall, query: changeQuery},
		{pattern: "GET " + g + "/firewalls", call: "firewalls.list", answer: (*request).listFirewalls, query: listQuery},
		{pattern: "GET " + g + "/firewalls/{name}", call: "firewalls.get", answer: (*request).getFirewall},
		{pattern: "PATCH " + g + "/firewalls/{name}", call: "firewalls.patch", answer: (*request).patchFirewall, query: changeQuery},
		{pattern: "DELETE " + g + "/firewalls/{name}", call: "firewalls.delete", answer: (*request).deleteFirewall, query: changeQuery},

		{pattern: "GET " + z + "/operations/{name}", call: "zoneOperations.get", answer: (*request).getOperation},
		{pattern: "GET " + r + "/operations/{name}", call: "regionOperations.get", answer: (*request).getOperation},
		{pattern: "GET " + g + "/operations/{name}", call: "globalOperations.get", answer: (*request).getOperation},
		{pattern: "POST " + z + "/operations/{name}/wait", call: "zoneOperations.wait", answer: (*request).waitOperation, waits: true},
		{pattern: "POST " + r + "/operations/{name}/wait", call: "regionOperations.wait", answer: (*request).waitOperation, waits: true},
		{pattern: "POST " + g + "/operations/{name}/wait", call: "globalOperations.wait", answer: (*request).waitOperation, waits: true},
	}
}

// handle makes an HTTP handler of a route.
func (d *Door) handle(rt *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d := d.of(r.PathValue("project"))
		q, err := d.read(r, rt)
		if err != nil {
			d.fail(w, rt, err)
			return
		}
		q.fault = d.faults.Call(fault.Place{Cloud: "gcp", Region: q.region, Zone: q.zone}, rt.call)
		d.log.Debug("gcp call", "region", q.region, "call", rt.call, "fault", string(q.fault))
		d.faults.Serve(q.fault, w, r, func(w http.ResponseWriter, _ *http.Request) {
			body, err := q.serve()
			if err != nil {
				d.fail(w, rt, err)
				return
			}
			writeJSON(w, http.StatusOK, body)
		})
	}
}

// answer carries the call out, or begins an operation that comes to nothing.
func (q *request) answer() (any, error) {
	_, verb, _ := strings.Cut(q.route.call, ".")
	operates := verb == "insert" || verb == "delete" || verb == "patch"
	if q.fault == fault.BadOperation && operates {
		return q.operate(verb, meta{}, func(context.Context) *flop { return internalError(errFault) }), nil
	}
	return q.route.answer(q)
}

var errFault = errors.New("try again later")

// serve answers the call under the door's lock, so that what is answered is
// one state and not two.
func (q *request) serve() ([]byte, error) {
	if f := refusal(q.fault, q.route.call); f != nil {
		return nil, f
	}
	if q.door.faults.APIDisabled() && !q.route.anyAPI {
		return nil, q.apiDisabled()
	}
	if !q.route.waits {
		q.door.mu.Lock()
		defer q.door.mu.Unlock()
	}
	answer, err := q.once()
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// once answers a change that was asked for before with the operation of then.
func (q *request) once() (any, error) {
	id, err := q.requestID()
	if err != nil {
		return nil, err
	}
	if id == "" {
		return q.answer()
	}
	if op := q.door.requests[id]; op != nil {
		if op.fingerprint != q.fingerprint() {
			return nil, invalidField("requestId", id, "It was used for another request.")
		}
		return &op.operationJSON, nil
	}
	answer, err := q.answer()
	if op, ok := answer.(*operationJSON); ok && err == nil {
		made := q.door.operations[op.Name]
		made.fingerprint, made.ClientOperationID = q.fingerprint(), id
		q.door.requests[id] = made
	}
	return answer, err
}

func (d *Door) fail(w http.ResponseWriter, rt *route, err error) {
	var f *failure
	if !errors.As(err, &f) {
		d.log.Error("gcp door", "call", rt.call, "err", err)
		f = &failure{http.StatusInternalServerError, "internalError", err.Error()}
	}
	f.write(w)
}

// refusal is the error of a call that a fault refuses at once. A machine for
// which there is no room is accepted first: its operation fails.
func refusal(kind fault.Kind, call string) *failure {
	switch kind {
	case fault.Throttle:
		return &failure{http.StatusForbidden, "rateLimitExceeded", "Rate Limit Exceeded"}
	case fault.Error500:
		return &failure{http.StatusInternalServerError, "backendError", "Internal error. Please try again or contact Google Support."}
	case fault.Denied:
		return &failure{http.StatusForbidden, "forbidden", "Required 'compute." + call + "' permission"}
	case fault.Quota:
		if call != "instances.insert" {
			return &failure{http.StatusForbidden, "quotaExceeded", "Quota exceeded. Limit: 0.0 globally."}
		}
	}
	return nil
}
