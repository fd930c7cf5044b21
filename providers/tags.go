package providers

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// TagRules say which tags, or labels, a cloud takes from a user.
type TagRules struct {
	Word     string         // the cloud's own: "tag" or "label"
	Key      *regexp.Regexp // of a whole key
	Value    *regexp.Regexp // of a whole value
	Most     int            // beside ours
	Reserved []string       // keys, beside ours, and their beginnings if they end in ":"
	Says     string         // what the expressions mean, in words
}

// Check finds the first tag, by key, that the cloud would refuse or that would
// hide one of ours.
func (r TagRules) Check(tags map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		switch {
		case key == TagRun || key == TagExpires || r.reserves(key):
			return fmt.Errorf("%s %s: the key is not for you to set", r.Word, key)
		case !r.Key.MatchString(key) || !r.Value.MatchString(tags[key]):
			return fmt.Errorf("%s %.80q: want %s", r.Word, key+"="+tags[key], r.Says)
		}
	}
	if len(tags) > r.Most {
		return fmt.Errorf("%d %ss: at most %d fit beside Antipode's own", len(tags), r.Word, r.Most)
	}
	return nil
}

// reserves compares as the strictest cloud does, without regard to case.
func (r TagRules) reserves(key string) bool {
	return slices.ContainsFunc(r.Reserved, func(own string) bool {
		if strings.HasSuffix(own, ":") {
			return strings.HasPrefix(strings.ToLower(key), own)
		}
		return key == own
	})
}
