package prices

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"sync"

	"github.com/antipode-bench/antipode"
)

//go:embed prices.yaml
var pricesYAML []byte

// Source is where a price is from.
type Source struct {
	ID         string `yaml:"id"`
	Date       string `yaml:"date"` // YYYY-MM-DD, when it was published; empty if unverified
	What       string `yaml:"what"` // for people
	Unverified bool   `yaml:"unverified"`
}

// Price is what Per units cost: hours of a machine, disk or address, bytes of
// data sent.
type Price struct {
	USD     float64 // 0 or more
	Per     float64 // 1 hour, 1e9 bytes or 2^30 bytes
	Source  Source
	Unknown string // what has no price: USD is an upper bound then; empty for a known price
}

// The units of prices, as Price.Per has them.
const (
	Hour = 1.0     // hours
	GB   = 1e9     // bytes
	GiB  = 1 << 30 // bytes
)

// Of is what an amount, in hours or bytes, costs in USD.
func (p Price) Of(amount float64) float64 { return p.USD / p.Per * amount }

// Table is what everything costs. It does not change once it is read and is safe
// for concurrent use.
type Table struct {
	machines  map[machine]Price
	disks     map[place]Price
	addresses map[string]Price // by cloud
	within    map[string]Price // between machines of one region, by cloud
	elsewhere float64          // times a known region's price an unknown one costs at most

	awsToAWS      map[string]Price    // to other regions, by the sender's
	awsToInternet map[string]Price    // by the sender's region
	awsPairs      map[[2]string]Price // exceptions from awsToAWS

	gcpPlaces   map[string]string   // by prefix of a region's name
	gcpPairs    map[[2]string]Price // between regions, by places
	gcpPremium  map[string]Price    // to the internet, by destination
	gcpStandard map[string]Price    // to the internet, by place of the sender
}

// clone is a table of its own that can be changed.
func (t *Table) clone() *Table {
	return &Table{
		machines: maps.Clone(t.machines), disks: maps.Clone(t.disks), addresses: maps.Clone(t.addresses),
		within: maps.Clone(t.within), elsewhere: t.elsewhere,
		awsToAWS: maps.Clone(t.awsToAWS), awsToInternet: maps.Clone(t.awsToInternet), awsPairs: maps.Clone(t.awsPairs),
		gcpPlaces: maps.Clone(t.gcpPlaces), gcpPairs: maps.Clone(t.gcpPairs), gcpPremium: maps.Clone(t.gcpPremium), gcpStandard: maps.Clone(t.gcpStandard),
	}
}

// place is a region, or all of a cloud's where the region is empty.
type place struct{ cloud, region string }

type machine struct {
	place
	name string
}

// Own is the cloud of machines that nobody sends a bill for here.
const Own = "hosts"

var free = Price{Per: 1, Source: Source{ID: "own", What: "machines you already have"}}

// Default returns the embedded table. It panics if that is broken, which a test
// rules out.
func Default() *Table { return embedded() }

var embedded = sync.OnceValue(func() *Table {
	t := newTable()
	if err := t.read("prices.yaml", pricesYAML); err != nil {
		panic("embedded " + err.Error())
	}
	return t
})

// Load returns the embedded table with the prices of a file in place of its own.
// Errors are of the form "name:line: what is wrong", one a line.
func Load(path string) (*Table, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load prices: %w", err)
	}
	return Parse(path, data)
}

// Parse is Load of a file's text.
func Parse(name string, data []byte) (*Table, error) {
	t := embedded().clone()
	if err := t.read(name, data); err != nil {
		return nil, err
	}
	return t, nil
}

// Machine is the price of an hour of a machine type, on demand.
func (t *Table) Machine(r antipode.Region, name string) Price {
	if r.Cloud == Own {
		return free
	}
	for _, region := range []string{r.Name, ""} {
		if p, ok := t.machines[machine{place{r.Cloud, region}, name}]; ok {
			return p
		}
	}
	same := dearest(t.machines, func(m machine) bool { return m.cloud == r.Cloud && m.name == name })
	if same.Per > 0 {
		return t.bound(same, "a %s in %s", name, r.ID())
	}
	return t.bound(dearest(t.machines, func(m machine) bool { return m.cloud == r.Cloud }), "a %s", name)
}

// Disk is the price of an hour of the disk that a machine boots from.
func (t *Table) Disk(r antipode.Region) Price {
	if r.Cloud == Own {
		return free
	}
	for _, region := range []string{r.Name, ""} {
		if p, ok := t.disks[place{r.Cloud, region}]; ok {
			return p
		}
	}
	return t.bound(dearest(t.disks, func(p place) bool { return p.cloud == r.Cloud }), "a disk in %s", r.ID())
}

// Address is the price of an hour of a machine's public IPv4 address.
func (t *Table) Address(r antipode.Region) Price {
	if r.Cloud == Own {
		return free
	}
	if p, ok := t.addresses[r.Cloud]; ok {
		return p
	}
	return unknown(dearest(t.addresses, every), "a public address of %s", r.Cloud)
}

// bound is the upper bound of what is not known in a region.
func (t *Table) bound(known Price, format string, args ...any) Price {
	known.USD *= t.elsewhere
	return unknown(known, format, args...)
}

func unknown(bound Price, format string, args ...any) Price {
	bound.Per = cmp.Or(bound.Per, 1)
	bound.Unknown = fmt.Sprintf(format, args...)
	return bound
}

// dearest is the highest of the prices whose keys are wanted; the zero Price if
// there are none.
func dearest[K comparable](prices map[K]Price, wanted func(K) bool) (highest Price) {
	for key, p := range prices {
		if wanted(key) {
			highest = dearer(highest, p)
		}
	}
	return highest
}

func every[K comparable](K) bool { return true }

// dearer is the higher of two prices of the same kind.
func dearer(a, b Price) Price {
	if a.Per == 0 || b.Of(1) > a.Of(1) {
		return b
	}
	return a
}
