package gce

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// ulong and long are 64-bit integers, which the API writes as strings and reads
// as either.
type (
	ulong uint64
	long  int64
)

// MarshalJSON implements json.Marshaler.
func (n ulong) MarshalJSON() ([]byte, error) { return json.Marshal(strconv.FormatUint(uint64(n), 10)) }

// UnmarshalJSON implements json.Unmarshaler.
func (n *ulong) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseUint(strings.Trim(string(b), `"`), 10, 64)
	*n = ulong(v)
	return err
}

// MarshalJSON implements json.Marshaler.
func (n long) MarshalJSON() ([]byte, error) { return json.Marshal(strconv.FormatInt(int64(n), 10)) }

// UnmarshalJSON implements json.Unmarshaler.
func (n *long) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*n = long(v)
	return err
}

var (
	resourceName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
	labelKey     = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
	labelValue   = regexp.MustCompile(`^[a-z0-9_-]{0,63}$`)
)

const maxLabels = 64

func checkName(name string) error {
	switch {
	case name == "":
		return required("resource.name")
	case !resourceName.MatchString(name):
		return invalidField("resource.name", name, "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'")
	}
	return nil
}

func checkLabels(field string, labels map[string]string) error {
	if len(labels) > maxLabels {
		return invalidField(field, len(labels), "Too many labels.")
	}
	for k, v := range labels {
		if !labelKey.MatchString(k) {
			return invalidField(field, k, "Label key does not conform to the requirements.")
		}
		if !labelValue.MatchString(v) {
			return invalidField(field, v, "Label value does not conform to the requirements.")
		}
	}
	return nil
}

// isTrue reads a boolean of the metadata.
func isTrue(s string) bool {
	switch strings.ToUpper(strings.TrimSpace(s)) {
	case "TRUE", "YES", "Y", "1":
		return true
	}
	return false
}

// exhausted is the error of an operation for which the zone has no room.
func (q *request) exhausted() *flop {
	return &flop{
		"ZONE_RESOURCE_POOL_EXHAUSTED",
		fmt.Sprintf("The zone '%s' does not have enough resources available to fulfill the request.  Try a different zone, or try again later.",
			q.door.path("zones", q.zone)),
		http.StatusServiceUnavailable, "SERVICE UNAVAILABLE",
	}
}

func (q *request) overQuota() *flop { return overLimit("CPUS", 0, "in region "+q.region) }
