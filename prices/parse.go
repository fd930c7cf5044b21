package prices

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/antipode-bench/antipode/strictyaml"
)

// hoursOfMonth divides prices of a month into hours: the clouds' months of 30
// days, the dearer reading beside 730 hours.
const hoursOfMonth = 720

func newTable() *Table {
	return &Table{
		machines: map[machine]Price{}, disks: map[place]Price{}, addresses: map[string]Price{}, within: map[string]Price{},
		awsToAWS: map[string]Price{}, awsToInternet: map[string]Price{}, awsPairs: map[[2]string]Price{},
		gcpPlaces: map[string]string{}, gcpPairs: map[[2]string]Price{}, gcpPremium: map[string]Price{}, gcpStandard: map[string]Price{},
	}
}

// reader reads one file into a table.
type reader struct {
	strictyaml.File
	*Table
	sources map[string]Source
	first   map[string]int // line of each price of this file
}

// read puts the prices of a file in place of those that t has. All that is wrong
// is said at once.
func (t *Table) read(name string, data []byte) error {
	r := &reader{strictyaml.File{Name: name}, t, map[string]Source{}, map[string]int{}}
	root, ok := r.Root(data)
	if !ok {
		return r.Err()
	}
	sections := r.sections()
	var names []string
	for _, s := range sections {
		names = append(names, s.name)
	}
	if _, ok := r.Keys(root, "the file", nil, names); !ok {
		return r.Err()
	}
	for _, s := range sections { // in their order: sources come first
		for i := 0; i+1 < len(root.Content); i += 2 {
			if root.Content[i].Value == s.name {
				r.list(s, root.Content[i+1])
			}
		}
	}
	return r.Err()
}

// list reads the items of a section.
func (r *reader) list(s section, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.Errorf(n.Line, "%s must be a list of at least one item", s.name)
		return
	}
	for _, item := range n.Content {
		if _, ok := r.Keys(item, "an item of "+s.name, strings.Fields(s.required), strings.Fields(s.optional)); ok {
			s.take(item)
		}
	}
}

// load reads an item and says what it lacks.
func load[T interface{ check() error }](r *reader, n *yaml.Node) (item T, ok bool) {
	if !r.Load(n, &item) {
		return item, false
	}
	if err := item.check(); err != nil {
		r.Errorf(n.Line, "%w", err)
		return item, false
	}
	return item, true
}

// once is false, and says so, if the file had an item of the same kind and key.
func (r *reader) once(n *yaml.Node, key ...string) bool {
	k := keyOf(key)
	if line, twice := r.first[k]; twice {
		r.Errorf(n.Line, "%s is there already, on line %d", k, line)
		return false
	}
	r.first[k] = n.Line
	return true
}

// had is true of what once was asked for.
func (r *reader) had(key ...string) bool { return r.first[keyOf(key)] > 0 }

func keyOf(key []string) string { return strings.TrimSpace(strings.Join(key, " ")) }

// price is a price of this file. A source that is not named is the file.
func (r *reader) price(n *yaml.Node, usd, per float64, source string) Price {
	s, ok := r.sources[source]
	switch {
	case source == "":
		s = Source{ID: r.Name, What: r.Name}
	case !ok:
		r.Errorf(n.Line, "source %q is not in the list of sources", source)
	}
	return Price{USD: usd, Per: per, Source: s}
}

// maxUSD is more than anything in a price list.
const maxUSD = 1_000_000

func checkUSD(usd float64) error {
	if !(usd >= 0 && usd <= maxUSD) {
		return fmt.Errorf("a price of %v: want 0 to %v", usd, float64(maxUSD))
	}
	return nil
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

func checkNames(names ...string) error {
	for _, name := range names {
		if !nameForm.MatchString(name) {
			return fmt.Errorf("%q is no name of lower-case letters, digits, dots and hyphens", name)
		}
	}
	return nil
}

func checkCloud(cloud string) error {
	if cloud != "aws" && cloud != "gcp" {
		return fmt.Errorf("cloud %q is not aws or gcp", cloud)
	}
	return nil
}

func (s Source) check() error {
	switch _, err := time.Parse(time.DateOnly, s.Date); {
	case s.ID == "" || s.What == "":
		return fmt.Errorf("a source needs an id and what it is")
	case s.Unverified != (s.Date == ""):
		return fmt.Errorf("source %s: want the date it was published, or unverified: true", s.ID)
	case s.Date != "" && err != nil:
		return fmt.Errorf("source %s: date %q is not of the form 2026-11-30", s.ID, s.Date)
	}
	return nil
}
