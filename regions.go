package antipode

import (
	_ "embed"
	"strings"
)

//go:embed regions.yaml
var regionsYAML []byte

// Region is one cloud region and the best public estimate of where it stands.
type Region struct {
	Cloud      string  `yaml:"cloud"`      // "aws", "gcp" or "azure"
	Name       string  `yaml:"region"`     // the cloud's own name, for example "us-east-1"
	Place      string  `yaml:"place"`      // for people
	Country    string  `yaml:"country"`    // ISO 3166-1 alpha-2
	Latitude   float64 `yaml:"latitude"`   // WGS84 decimal degrees, -90 to 90
	Longitude  float64 `yaml:"longitude"`  // WGS84 decimal degrees, -180 to 180
	Confidence string  `yaml:"confidence"` // "high", "medium" or "low"
	OptIn      bool    `yaml:"opt_in"`     // AWS: disabled in an account until it is asked for
	Partition  string  `yaml:"partition"`  // AWS: empty for the commercial partition
	Status     string  `yaml:"status"`     // Azure: "restricted" when not open to every subscription
}

// ID is the region's unambiguous name, "cloud:region".
func (r Region) ID() string { return r.Cloud + ":" + r.Name }

// SplitID undoes ID; ok is false when id is not of the form "cloud:region".
func SplitID(id string) (cloud, name string, ok bool) {
	cloud, name, ok = strings.Cut(id, ":")
	return cloud, name, ok && cloud != "" && name != ""
}
