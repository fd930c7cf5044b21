package gcp

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/antipode-bench/antipode/providers"
)

// policies are organisation policies that a run can fall foul of, and what to
// do. They can be read only with rights of their own, so they are explained
// when they come.
var policies = map[string]string{
	"vmExternalIpAccess":               "external addresses are forbidden; ask for an exception for this project",
	"requireOsLogin":                   "OS Login is required, which would remove the run's SSH key; ask for an exception for this project",
	"disableGuestAttributesAccess":     "guest attributes are forbidden, which tell a machine's host key; ask for an exception for this project",
	"trustedImageProjects":             "images of " + imageProject + " are forbidden; ask to have that project allowed",
	"resourceLocations":                "machines are forbidden in this region",
	"requireShieldedVm":                "machines must be shielded; ask for an exception for this project",
	"restrictNonConfidentialComputing": "machines must be confidential; ask for an exception for this project",
}

var constraint = regexp.MustCompile(`constraints/((?:gcp|compute)\.(?:managed\.)?([A-Za-z]+))`)

// explained says first what an error means that only names a policy: the rest
// may be cut off in a table.
func explained(err error) error {
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || e.Kind != providers.Skip {
		return err
	}
	found := constraint.FindStringSubmatch(e.Err.Error())
	if found == nil {
		return err
	}
	meaning := policies[found[2]]
	if meaning == "" {
		meaning = "it forbids what the run needs; ask for an exception for this project"
	}
	e.Err = fmt.Errorf("organisation policy %s: %s: %w", found[1], meaning, e.Err)
	return err
}
