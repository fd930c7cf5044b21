package gce

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/antipode-bench/antipode/lab/door/fault"
)

// maxBody is the longest request accepted, in bytes.
const maxBody = 1 << 20

// request is one call being answered.
type request struct {
	*http.Request
	door   *Door
	route  *route
	region string // of a zonal call too; empty when global
	zone   string
	query  url.Values
	body   []byte
	fault  fault.Kind // for the kinds that an operation reports
}

// read checks where the call goes and takes its body and parameters.
func (d *Door) read(r *http.Request, rt *route) (*request, error) {
	q := &request{Request: r, door: d, route: rt}
	var err error
	// The whole body first: the server notices a caller that hangs up only then.
	if q.body, err = io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody)); err != nil {
		return nil, invalid("The request could not be read: %v", err)
	}
	if err := q.place(); err != nil {
		return nil, err
	}
	if q.query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		return nil, invalid("The query could not be read: %v", err)
	}
	for name, values := range q.query {
		if !slices.Contains(rt.query, name) && !slices.Contains(everyQuery, name) {
			return nil, invalid("Invalid JSON payload received. Unknown name %q: Cannot bind query parameter.", name)
		}
		if len(values) > 1 {
			return nil, invalid("The query parameter %q is given %d times", name, len(values))
		}
	}
	return q, nil
}

func (q *request) place() error {
	project := q.PathValue("project")
	if project != q.door.project && !(q.route.anyProject && imageProject(project)) {
		return notFound("projects/" + project)
	}
	q.zone, q.region = q.PathValue("zone"), q.PathValue("region")
	if q.zone != "" {
		region, ok := q.door.zones[q.zone]
		if !ok {
			return invalidField("zone", q.zone, "Unknown zone.")
		}
		q.region = region
	}
	if q.region != "" && !slices.Contains(q.door.regions, q.region) {
		return invalidField("region", q.region, "Unknown region.")
	}
	return nil
}

// decode reads the body strictly: what the door does not know is an error and
// not passed over in silence.
func (q *request) decode(into any) error {
	dec := json.NewDecoder(bytes.NewReader(q.body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return invalid("Invalid JSON payload received: %s (a field may be one that the lab's door does not know)",
			strings.TrimPrefix(err.Error(), "json: "))
	}
	if dec.More() {
		return invalid("Invalid JSON payload received: more than one value")
	}
	return nil
}

// everyQuery are the parameters that every call takes.
var everyQuery = []string{"alt", "$alt", "fields", "key", "prettyPrint", "quotaUser"}

var (
	listQuery   = []string{"filter", "maxResults", "orderBy", "pageToken", "returnPartialSuccess", "includeAllScopes"}
	changeQuery = []string{"requestId"}
	guestQuery  = []string{"queryPath", "variableKey"}
)

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// requestID is the caller's own id of a change, empty without one.
func (q *request) requestID() (string, error) {
	id := q.query.Get("requestId")
	if id != "" && (!uuid.MatchString(id) || strings.Trim(id, "0-") == "") {
		return "", invalidField("requestId", id, "Must be a valid UUID and not zero.")
	}
	return id, nil
}

// fingerprint is the same for the same change asked for again.
func (q *request) fingerprint() string {
	return q.Method + " " + q.URL.Path + "\n" + string(q.body)
}
