package allowance

import (
	_ "embed"
	"sync"

	"github.com/antipode-bench/antipode/strictyaml"
)

//go:embed caps.yaml
var capsYAML []byte

// Cap is the most that a machine type can have between regions, in bit/s as the
// cloud counts them, headers included. It is not for machines in one region.
type Cap struct {
	Cloud      string  `yaml:"cloud"`
	Type       string  `yaml:"type"`
	MachineBps float64 `yaml:"machine_bps"` // all flows together
	PrivateBps float64 `yaml:"private_bps"` // the same between private addresses; 0: no more, nor less
	FlowBps    float64 `yaml:"flow_bps"`    // one flow between public addresses
}

// CapOf is the cap of a cloud's machine type; false where it is not known.
func CapOf(cloud, machineType string) (Cap, bool) {
	c, ok := embeddedCaps()[[2]string{cloud, machineType}]
	return c, ok
}

var embeddedCaps = sync.OnceValue(func() map[[2]string]Cap {
	all, err := parseCaps("caps.yaml", capsYAML)
	if err != nil {
		panic("embedded " + err.Error())
	}
	return all
})

// parseCaps reads a list of caps strictly, as parse reads allowances.
func parseCaps(name string, data []byte) (map[[2]string]Cap, error) {
	f := strictyaml.File{Name: name}
	all := map[[2]string]Cap{}
	root, ok := f.Root(data)
	if !ok {
		return nil, f.Err()
	}
	for _, n := range root.Content {
		var c Cap
		if !f.Load(n, &c) {
			continue
		}
		key := [2]string{c.Cloud, c.Type}
		switch _, twice := all[key]; {
		case c.Cloud == "" || c.Type == "":
			f.Errorf(n.Line, "cloud or type is missing")
		case twice:
			f.Errorf(n.Line, "%s %s is there twice", c.Cloud, c.Type)
		case !(c.MachineBps > 0 && c.FlowBps > 0 && c.FlowBps <= c.MachineBps && c.PrivateBps >= 0):
			f.Errorf(n.Line, "%s: machine_bps %v and flow_bps %v: want rates above zero, and no more for a flow than for the machine", c.Type, c.MachineBps, c.FlowBps)
		}
		all[key] = c
	}
	return all, f.Err()
}
