package antipode

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

//go:embed regions.yaml
var regionsYAML []byte

// Region is one cloud region and the best public estimate of where it stands.
type Region struct {
	Cloud      string  `yaml:"cloud"`      // "aws", "gcp", "azure", or what stands in for a cloud
	Name       string  `yaml:"region"`     // the cloud's own name, for example "us-east-1"
	Place      string  `yaml:"place"`      // for people
	Country    string  `yaml:"country"`    // ISO 3166-1 alpha-2
	Latitude   float64 `yaml:"latitude"`   // WGS84 decimal degrees, -90 to 90
	Longitude  float64 `yaml:"longitude"`  // WGS84 decimal degrees, -180 to 180
	Confidence string  `yaml:"confidence"` // "high", "medium" or "low"
	OptIn      bool    `yaml:"opt_in"`     // AWS: disabled in an account until it is asked for
	Partition  string  `yaml:"partition"`  // AWS: empty for the commercial partition
	Status     string  `yaml:"status"`     // Azure: "restricted" when not open to every subscription
	Unplaced   bool    `yaml:"-"`          // nobody knows where it stands: the coordinates mean nothing
}

// ID is the region's unambiguous name, "cloud:region".
func (r Region) ID() string { return r.Cloud + ":" + r.Name }

// SplitID undoes ID; ok is false when id is not of the form "cloud:region".
func SplitID(id string) (cloud, name string, ok bool) {
	cloud, name, ok = strings.Cut(id, ":")
	return cloud, name, ok && cloud != "" && name != ""
}

// Regions returns the embedded regions in the order of regions.yaml. The slice
// is the caller's own. It panics if the embedded file is broken, which a test
// rules out.
func Regions() []Region { return slices.Clone(embedded()) }

var embedded = sync.OnceValue(func() []Region {
	regions, err := ParseRegions("regions.yaml", regionsYAML)
	if err != nil {
		panic("embedded " + err.Error())
	}
	return regions
})

// LoadRegions reads a file like regions.yaml. Errors are as of ParseRegions.
func LoadRegions(path string) ([]Region, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load regions: %w", err)
	}
	return ParseRegions(path, data)
}

// Find returns the region of the given ID, "cloud:region".
func Find(regions []Region, id string) (Region, bool) {
	i := slices.IndexFunc(regions, func(r Region) bool { return r.ID() == id })
	if i < 0 {
		return Region{}, false
	}
	return regions[i], true
}
