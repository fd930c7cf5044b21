package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"go.yaml.in/yaml/v4"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/strictyaml"
)

// LoadFaults reads a fault file; see ParseFaults.
func LoadFaults(path string) (door.Faults, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return door.Faults{}, fmt.Errorf("load faults: %w", err)
	}
	return ParseFaults(path, data)
}

// ParseFaults reads the text of a fault file strictly: what goes wrong in a lab.
// Errors are of the form "name:line: what is wrong", one a line. A file without
// faults is fine.
func ParseFaults(name string, data []byte) (door.Faults, error) {
	var faults door.Faults
	if len(bytes.TrimSpace(data)) == 0 {
		return faults, nil
	}
	f := strictyaml.File{Name: name}
	root, ok := f.Root(data)
	if ok && f.Load(root, &faults) {
		checkFaults(&f, root, faults)
	}
	if err := f.Err(); err != nil {
		return door.Faults{}, err
	}
	return faults, nil
}

// checkFaults validates one fault after the other, to know the line of each.
func checkFaults(f *strictyaml.File, root *yaml.Node, faults door.Faults) {
	check := func(section string, i int, one door.Faults) {
		if err := one.Validate(); err != nil {
			if bare := errors.Unwrap(err); bare != nil {
				err = bare // without "calls[0]", which the line tells better
			}
			f.Errorf(lineOf(root, section, i), "%w", err)
		}
	}
	for i := range faults.Calls {
		check("calls", i, door.Faults{Calls: faults.Calls[i : i+1]})
	}
	for i := range faults.Machines {
		check("machines", i, door.Faults{Machines: faults.Machines[i : i+1]})
	}
	for i := range faults.Cuts {
		check("cuts", i, door.Faults{Cuts: faults.Cuts[i : i+1]})
	}
	for i := range faults.Quotas {
		check("quotas", i, door.Faults{Quotas: faults.Quotas[i : i+1]})
	}
	check("project", -1, door.Faults{Project: faults.Project})
}

// lineOf is the line of the i-th item of a list under a top-level key, or of the
// key itself if i is negative.
func lineOf(root *yaml.Node, key string, i int) int {
	for n := 0; n+1 < len(root.Content); n += 2 {
		if root.Content[n].Value != key {
			continue
		}
		if items := root.Content[n+1].Content; i >= 0 && i < len(items) {
			return items[i].Line
		}
		return root.Content[n].Line
	}
	return root.Line
}
