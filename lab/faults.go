package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"go.yaml.in/yaml/v4"

	"github.com/antipode-bench/antipode/lab/door"
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
	var tree yaml.Node
	if err := yaml.Load(data, &tree); err != nil {
		return faults, errors.Join(atLine(name, 0, err)...)
	}
	if err := tree.Load(&faults, yaml.WithKnownFields()); err != nil {
		return door.Faults{}, errors.Join(atLine(name, 0, err)...)
	}
	if err := checkFaults(name, &tree, faults); err != nil {
		return door.Faults{}, err
	}
	return faults, nil
}

// checkFaults validates one fault after the other, to know the line of each.
func checkFaults(name string, tree *yaml.Node, faults door.Faults) error {
	var errs []error
	check := func(section string, i int, one door.Faults) {
		if err := one.Validate(); err != nil {
			if bare := errors.Unwrap(err); bare != nil {
				err = bare // without "calls[0]", which the line tells better
			}
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, lineOf(tree, section, i), err))
		}
	}
	for i := range faults.Calls {
		check("calls", i, door.Faults{Calls: faults.Calls[i : i+1]})
	}
	for i := range faults.Machines {
		check("machines", i, door.Faults{Machines: faults.Machines[i : i+1]})
	}
	for i := range faults.Quotas {
		check("quotas", i, door.Faults{Quotas: faults.Quotas[i : i+1]})
	}
	check("project", -1, door.Faults{Project: faults.Project})
	return errors.Join(errs...)
}

// lineOf is the line of the i-th item of a list under a top-level key, or of the
// key itself if i is negative.
func lineOf(tree *yaml.Node, key string, i int) int {
	if tree.Kind == yaml.DocumentNode {
		tree = tree.Content[0]
	}
	for n := 0; n+1 < len(tree.Content); n += 2 {
		if tree.Content[n].Value != key {
			continue
		}
		if items := tree.Content[n+1].Content; i >= 0 && i < len(items) {
			return items[i].Line
		}
		return tree.Content[n].Line
	}
	return tree.Line
}

// atLine brings errors of the YAML library into the promised form.
func atLine(name string, line int, err error) []error {
	var several *yaml.LoadErrors
	if errors.As(err, &several) {
		var errs []error
		for _, e := range several.Errors {
			errs = append(errs, atLine(name, line, e)...)
		}
		return errs
	}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		return []error{fmt.Errorf("%s:%d: %s", name, one.Mark.Line, one.Message)}
	}
	return []error{fmt.Errorf("%s: %w", name, err)}
}
