package orchestrator

// Choice is what a run wishes of the clouds besides machine types. The zero
// value leaves everything to the clouds and to Antipode.
type Choice struct {
	Tags map[string]string `json:"tags,omitempty"` // extra ones, on everything that can carry them
}
