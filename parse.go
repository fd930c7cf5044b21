package antipode

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/antipode-bench/antipode/strictyaml"
)

// ParseRegions reads the text of a regions file strictly. Unknown and repeated
// keys, missing fields, values outside their range or enumeration and repeated
// regions are errors of the form "name:line: what is wrong", one a line, all of
// them at once.
func ParseRegions(name string, data []byte) ([]Region, error) {
	p := parser{File: strictyaml.File{Name: name}, lines: make(map[string]int)}
	for _, n := range p.List(data, "regions", "region") {
		p.region(n)
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	return p.regions, nil
}

type parser struct {
	strictyaml.File
	regions []Region
	lines   map[string]int // where each ID was first seen
}

var (
	requiredKeys = []string{"cloud", "region", "place", "country", "latitude", "longitude", "confidence"}
	optionalKeys = []string{"opt_in", "partition", "status"}
)

func (p *parser) region(n *yaml.Node) {
	if _, ok := p.Keys(n, "a region", requiredKeys, optionalKeys); !ok {
		return
	}
	var r Region
	if !p.Load(n, &r) {
		return
	}
	if first, dup := p.lines[r.ID()]; dup {
		p.Errorf(n.Line, "region %q is already on line %d", r.ID(), first)
		return
	}
	p.lines[r.ID()] = n.Line
	for _, err := range r.check() {
		p.Errorf(n.Line, "%w", err)
	}
	p.regions = append(p.regions, r)
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
