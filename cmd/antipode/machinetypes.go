package main

import (
	"errors"
	"fmt"
	"maps"

	"github.com/antipode-bench/antipode/providers/aws"
	"github.com/antipode-bench/antipode/providers/gcp"
	"github.com/antipode-bench/antipode/results"
)

// machineTypes is a flag's machine types per cloud, best first:
// "aws=t3.small,t3a.small,gcp=e2-small". Clouds that are not named keep what
// they have.
type machineTypes struct{ preferences }

func defaultMachineTypes() machineTypes {
	return machineTypes{preferences{aws.Cloud: {aws.DefaultMachineType}, gcp.Cloud: {gcp.DefaultMachineType}}}
}

func (m machineTypes) Set(s string) error {
	named, err := parsePreferences(s, func(cloud, name string) error {
		if _, known := m.preferences[cloud]; !known {
			return errors.New("not of the form aws=t3.small; there are the clouds aws and gcp")
		}
		if !results.IsName(name) {
			return fmt.Errorf("%q is no machine type", name)
		}
		return nil
	})
	maps.Copy(m.preferences, named)
	return err
}

func (m machineTypes) Type() string { return "CLOUD=TYPE" }

// first is the machine type that each cloud is asked for, and others what it
// is asked for where no zone has room for that.
func (m machineTypes) first() map[string]string {
	first := map[string]string{}
	for cloud, list := range m.preferences {
		first[cloud] = list[0]
	}
	return first
}

func (m machineTypes) others() map[string][]string {
	others := map[string][]string{}
	for cloud, list := range m.preferences {
		if len(list) > 1 {
			others[cloud] = list[1:]
		}
	}
	return others
}
