package gcp

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

func instanceName(runID, region string) string { return providers.Name(runID) + "-" + region }

func sshRule(runID string) string { return providers.Name(runID) + "-ssh" }

func peerRule(runID, region string, n int) string {
	return fmt.Sprintf("%s-%d", instanceName(runID, region), n)
}

// last is the name at the end of a resource's URL.
func last(url string) string { return path.Base(url) }

// regionOf is a zone's region: "us-east1-b" is in "us-east1".
func regionOf(zone string) string {
	i := strings.LastIndexByte(zone, '-')
	if i < 0 {
		return zone
	}
	return zone[:i]
}

// regionOfScope is where a scope of an aggregated list is: a region itself, or
// a zone.
func regionOfScope(scope string) string {
	if path.Base(path.Dir(scope)) == "regions" {
		return last(scope)
	}
	return regionOf(last(scope))
}

// labelRules are Compute Engine's for a user's labels: 64 on a resource, of
// which we take two. It allows lower-case letters of other scripts too, but
// not in every API that bills by them.
// https://cloud.google.com/compute/docs/labeling-resources#requirements
var labelRules = providers.TagRules{
	Word:  "Google Cloud label",
	Key:   regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`),
	Value: regexp.MustCompile(`^[a-z0-9_-]{0,63}$`),
	Most:  64 - 2,
	Says:  "a-z, 0-9, _ and -, at most 63 each, and a letter first in the key",
}

// CheckTags says whether Compute Engine takes a user's tags as labels.
func CheckTags(tags map[string]string) error { return labelRules.Check(tags) }

// labels mark instances and disks.
func labels(run providers.Run) map[string]string {
	all := map[string]string{}
	maps.Copy(all, run.Tags)
	all[providers.TagRun] = run.ID
	all[providers.TagExpires] = strconv.FormatInt(run.Expires.Unix(), 10)
	return all
}

func expiry(labels map[string]string) time.Time {
	seconds, err := strconv.ParseInt(labels[providers.TagExpires], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// description says what labels say, for what cannot have any.
func description(run providers.Run) string {
	return fmt.Sprintf("%s=%s %s=%d", providers.TagRun, run.ID, providers.TagExpires, run.Expires.Unix())
}

// described undoes description. The map is empty for what is not ours.
func described(text string) map[string]string {
	labels := map[string]string{}
	for _, word := range strings.Fields(text) {
		if key, value, ok := strings.Cut(word, "="); ok {
			labels[key] = value
		}
	}
	return labels
}

// matches says whether labels are the run's, or any run's if runID is empty. One
// of the two alone may be somebody else's word for something else.
func matches(labels map[string]string, runID string) bool {
	id, ours := labels[providers.TagRun]
	_, expires := labels[providers.TagExpires]
	return ours && expires && (runID == "" || id == runID)
}

// named says whether a resource has a name of its run's. What somebody copied
// from ours has its labels or its description, but another name.
func named(r providers.Resource) bool {
	name, id := providers.Name(r.RunID), last(r.ID)
	return id == name || strings.HasPrefix(id, name+"-")
}
