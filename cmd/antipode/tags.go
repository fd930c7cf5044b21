package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/antipode-bench/antipode/providers/aws"
	"github.com/antipode-bench/antipode/providers/gcp"
)

// tagList is a flag's tags, one KEY=VALUE at each use. There is none with an
// empty key.
type tagList map[string]string

func (l tagList) Set(s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" {
		return fmt.Errorf("%q is not of the form KEY=VALUE", s)
	}
	if old, twice := l[key]; twice {
		return fmt.Errorf("%s is %q already", key, old)
	}
	l[key] = value
	return nil
}

func (l tagList) String() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(l)) {
		parts = append(parts, key+"="+l[key])
	}
	return strings.Join(parts, " ")
}

func (l tagList) Type() string { return "KEY=VALUE" }

// check asks every cloud of the sweep whether it would take the tags.
func (l tagList) check(clouds []string) error {
	for _, cloud := range clouds {
		rules, ok := map[string]func(map[string]string) error{aws.Cloud: aws.CheckTags, gcp.Cloud: gcp.CheckTags}[cloud]
		if !ok {
			continue
		}
		if err := rules(l); err != nil {
			return usageError("--tag: %w", err)
		}
	}
	return nil
}
