package orchestrator

// Choice is what a run wishes of the clouds besides machine types. The zero
// value leaves everything to the clouds and to Antipode.
type Choice struct {
	// OtherTypes are tried in their order, by cloud, where no zone has room for
	// the cloud's machine type.
	OtherTypes map[string][]string `json:"other_machine_types,omitempty"`
	// Zones are the only ones to use of a region, by its id, best first.
	Zones map[string][]string `json:"zones,omitempty"`

	// Spot machines cost less and may be taken away at any time.
	Spot bool              `json:"spot,omitempty"`
	Tags map[string]string `json:"tags,omitempty"` // extra ones, on everything that can carry them
}
