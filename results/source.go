package results

import "time"

// Source is a file, or a run's folder, that rows were read from.
type Source struct {
	Name   string    `json:"name"`   // as it was given
	Kind   string    `json:"kind"`   // such as "antipode" or "iperf3"
	Rows   int       `json:"rows"`   // accepted
	Bad    int       `json:"bad"`    // kept apart, each a BadRow
	Method string    `json:"method"` // how its figures were measured: a sentence for people
	Run    *RunFacts `json:"run,omitempty"`
}

// RunFacts is what a run's folder says about how it measured.
type RunFacts struct {
	RunID    string            `json:"run_id"`
	Version  string            `json:"version"` // of the antipode that measured
	Started  time.Time         `json:"started"`
	Command  map[string]string `json:"command,omitempty"` // flags that were given
	Test     map[string]any    `json:"test"`              // as run.json has it
	Machines []MachineFacts    `json:"machines"`
}

// MachineFacts is one machine of a run. What is not known is empty.
type MachineFacts struct {
	Region            string `json:"region"` // "aws:us-east-1"
	Zone              string `json:"zone,omitempty"`
	Type              string `json:"type,omitempty"`
	Image             string `json:"image,omitempty"`
	Kernel            string `json:"kernel,omitempty"`
	CPUs              int    `json:"cpus,omitempty"`
	CongestionControl string `json:"congestion_control,omitempty"`
	Probe             string `json:"probe,omitempty"` // version
}

// BadRow is a line that could not be taken for a row.
type BadRow struct {
	File   string `json:"file"`
	Line   int    `json:"line"` // from 1
	Reason string `json:"reason"`
}

// Series is how the throughput test of one row went on, all streams together.
// The slices are parallel.
type Series struct {
	AtS        []float32 // end of an interval, seconds since the test began
	GoodputBps []float32 // in the interval, counted by the receiver
	RTTMs      []float32 // smoothed round trip under load; 0 where not known
}
