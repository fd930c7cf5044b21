package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/antipode-bench/antipode/providers/aws"
	"github.com/antipode-bench/antipode/providers/gcp"
	"github.com/antipode-bench/antipode/results"
)

// machineTypes is a flag's machine type per cloud: "aws=t3.small,gcp=e2-small".
// Clouds that are not named keep what they have.
type machineTypes map[string]string

func defaultMachineTypes() machineTypes {
	return machineTypes{aws.Cloud: aws.DefaultMachineType, gcp.Cloud: gcp.DefaultMachineType}
}

func (m machineTypes) Set(s string) error {
	for _, part := range strings.Split(s, ",") {
		cloud, name, _ := strings.Cut(part, "=")
		if _, known := m[cloud]; !known {
			return fmt.Errorf("%q is not of the form aws=t3.small; there are the clouds aws and gcp", part)
		}
		if !results.IsName(name) {
			return fmt.Errorf("%q has no machine type", part)
		}
		m[cloud] = name
	}
	return nil
}

func (m machineTypes) String() string {
	var parts []string
	for _, cloud := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, cloud+"="+m[cloud])
	}
	return strings.Join(parts, ",")
}

func (m machineTypes) Type() string { return "CLOUD=TYPE" }
