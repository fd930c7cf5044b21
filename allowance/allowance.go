package allowance

import (
	_ "embed"
	"sync"

	"github.com/antipode-bench/antipode/strictyaml"
)

//go:embed allowances.yaml
var allowancesYAML []byte

// Allowance is the network bandwidth of a machine type, in each direction, in
// bit/s as the cloud counts them, headers included.
type Allowance struct {
	Cloud       string  `yaml:"cloud"`
	Type        string  `yaml:"type"`
	BaselineBps float64 `yaml:"baseline_bps"` // in the long run
	BurstBps    float64 `yaml:"burst_bps"`    // while credits last; the baseline or more
}

// Of is the allowance of a cloud's machine type; false for a type that has none
// or is not known.
func Of(cloud, machineType string) (Allowance, bool) {
	a, ok := embedded()[[2]string{cloud, machineType}]
	return a, ok
}

var embedded = sync.OnceValue(func() map[[2]string]Allowance {
	all, err := parse("allowances.yaml", allowancesYAML)
	if err != nil {
		panic("embedded " + err.Error())
	}
	return all
})

// parse reads a list of allowances strictly: what is wrong is said with its line.
func parse(name string, data []byte) (map[[2]string]Allowance, error) {
	f := strictyaml.File{Name: name}
	all := map[[2]string]Allowance{}
	root, ok := f.Root(data)
	if !ok {
		return nil, f.Err()
	}
	for _, n := range root.Content {
		var a Allowance
		if !f.Load(n, &a) {
			continue
		}
		key := [2]string{a.Cloud, a.Type}
		switch _, twice := all[key]; {
		case a.Cloud == "" || a.Type == "":
			f.Errorf(n.Line, "cloud or type is missing")
		case twice:
			f.Errorf(n.Line, "%s %s is there twice", a.Cloud, a.Type)
		case !(a.BaselineBps > 0 && a.BurstBps >= a.BaselineBps):
			f.Errorf(n.Line, "%s: baseline_bps %v and burst_bps %v: want a baseline above zero and no less to burst to", a.Type, a.BaselineBps, a.BurstBps)
		}
		all[key] = a
	}
	return all, f.Err()
}
