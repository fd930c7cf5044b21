package antipode

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// ParseRegions reads the text of a regions file strictly. Unknown and repeated
// keys, missing fields, values outside their range or enumeration and repeated
// regions are errors of the form "name:line: what is wrong", one a line, all of
// them at once.
func ParseRegions(name string, data []byte) ([]Region, error) {
	p := parser{name: name, lines: make(map[string]int)}
	for _, n := range p.list(data) {
		p.region(n)
	}
	if err := errors.Join(p.errs...); err != nil {
		return nil, err
	}
	return p.regions, nil
}

type parser struct {
	name    string
	regions []Region
	lines   map[string]int // where each ID was first seen
	errs    []error
}

func (p *parser) errorf(line int, format string, args ...any) {
	at := p.name
	if line > 0 {
		at = fmt.Sprintf("%s:%d", p.name, line)
	}
	p.errs = append(p.errs, fmt.Errorf("%s: %w", at, fmt.Errorf(format, args...)))
}

// list returns the nodes under the only key the file may have, "regions".
func (p *parser) list(data []byte) []*yaml.Node {
	var root yaml.Node
	if err := yaml.Load(data, &root); err != nil {
		p.yamlError(0, err)
		return nil
	}
	top := &root
	if root.Kind == yaml.DocumentNode && len(root.Content) == 1 {
		top = root.Content[0]
	}
	if !p.keys(top, "the file", []string{"regions"}, []string{"regions"}) {
		return nil
	}
	regions := top.Content[1]
	if regions.Kind != yaml.SequenceNode || len(regions.Content) == 0 {
		p.errorf(regions.Line, "regions must be a list of at least one region")
		return nil
	}
	return regions.Content
}

var (
	requiredKeys = []string{"cloud", "region", "place", "country", "latitude", "longitude", "confidence"}
	optionalKeys = []string{"opt_in", "partition", "status"}
)

func (p *parser) region(n *yaml.Node) {
	if !p.keys(n, "a region", requiredKeys, slices.Concat(requiredKeys, optionalKeys)) {
		return
	}
	var r Region
	if err := n.Load(&r, yaml.WithKnownFields()); err != nil {
		p.yamlError(n.Line, err)
		return
	}
	if first, dup := p.lines[r.ID()]; dup {
		p.errorf(n.Line, "region %q is already on line %d", r.ID(), first)
		return
	}
	p.lines[r.ID()] = n.Line
	for _, err := range r.check() {
		p.errorf(n.Line, "%w", err)
	}
	p.regions = append(p.regions, r)
}

// keys reports whether n is a mapping of known keys, each once, with every
// required one among them, and records what is wrong.
func (p *parser) keys(n *yaml.Node, what string, required, known []string) bool {
	if n.Kind != yaml.MappingNode {
		p.errorf(n.Line, "%s must be a mapping of %s", what, strings.Join(required, ", "))
		return false
	}
	before := len(p.errs)
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			p.errorf(key.Line, "unknown key %q, want one of %s", key.Value, strings.Join(known, ", "))
		case seen[key.Value]:
			p.errorf(key.Line, "key %q is there twice", key.Value)
		}
		seen[key.Value] = true
	}
	for _, key := range required {
		if !seen[key] {
			p.errorf(n.Line, "%s lacks %q", what, key)
		}
	}
	return len(p.errs) == before
}

// yamlError records an error of the YAML library, which knows the line better
// than the caller when it says one.
func (p *parser) yamlError(line int, err error) {
	var several *yaml.LoadErrors
	if errors.As(err, &several) && len(several.Errors) > 0 {
		for _, e := range several.Errors {
			p.yamlError(line, e)
		}
		return
	}
	var one *yaml.LoadError
	if !errors.As(err, &one) {
		p.errorf(line, "%w", err)
		return
	}
	if one.Mark.Line > 0 {
		line = one.Mark.Line
	}
	p.errorf(line, "%s", one.Message)
}

// nameForm is what a cloud calls a region; it goes into tags, labels and CSV.
var nameForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)

// check returns everything wrong with the values of r.
func (r Region) check() []error {
	var errs []error
	oneOf := func(key, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			errs = append(errs, fmt.Errorf("%s %q is not one of %q", key, value, allowed))
		}
	}
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	oneOf("cloud", r.Cloud, "aws", "gcp", "azure")
	oneOf("confidence", r.Confidence, "high", "medium", "low")
	oneOf("partition", r.Partition, "", "aws-cn", "aws-us-gov", "aws-eusc")
	oneOf("status", r.Status, "", "restricted")
	want(nameForm.MatchString(r.Name), "region %q must be lower-case letters, digits and hyphens", r.Name)
	want(isText(r.Place), "place %q must be one line of text", r.Place)
	want(r.Continent() != "", "country %q is not an ISO 3166-1 alpha-2 code", r.Country)
	want(within(r.Latitude, 90), "latitude %v is outside -90 to 90", r.Latitude)
	want(within(r.Longitude, 180), "longitude %v is outside -180 to 180", r.Longitude)
	want(r.Partition == "" || r.Cloud == "aws", "partition %q: only aws has partitions", r.Partition)
	want(!r.OptIn || r.Cloud == "aws", "opt_in: only aws has regions to opt in to")
	return errs
}

// within is false for NaN too.
func within(degrees, limit float64) bool { return degrees >= -limit && degrees <= limit }

func isText(s string) bool {
	return strings.TrimSpace(s) != "" && !strings.ContainsFunc(s, unicode.IsControl)
}
