package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// preferences are a flag's lists by key, best first: "aws=t3.nano,t3a.nano,gcp=e2-small".
// What stands without a key goes on with the list before it.
type preferences map[string][]string

// parsePreferences reads one use of a flag. The check is of a key and one of
// its values.
func parsePreferences(s string, check func(key, value string) error) (preferences, error) {
	all, key := preferences{}, ""
	for _, part := range strings.Split(s, ",") {
		value := part
		if k, v, ok := strings.Cut(part, "="); ok {
			key, value = k, v
		}
		if err := check(key, value); err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
		if slices.Contains(all[key], value) {
			return nil, fmt.Errorf("%q is there twice", value)
		}
		all[key] = append(all[key], value)
	}
	return all, nil
}

func (p preferences) String() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(p)) {
		parts = append(parts, key+"="+strings.Join(p[key], ","))
	}
	return strings.Join(parts, ",")
}
