package analysis

import (
	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/results"
)

// MostRows is how many rows are kept with all their columns. Of more, which
// would take gigabytes, there are only their observations.
const MostRows = 20_000

// MostBad is how many bad rows, and flagged rows of each kind, are kept for
// people to read; all of them are counted.
const MostBad = 1000

// Data is what findings, charts and pages are made of. A Collector makes it;
// nothing in it changes afterwards.
type Data struct {
	Sources     []results.Source
	Coordinates string            // where they are from: "built-in", or a file's name
	Regions     []antipode.Region // each that a row names, sorted by ID
	Pairs       []Pair            // each directed pair that a row names, sorted by its regions
	Obs         []Obs             // one for each accepted row, in the order of reading
	Rows        []results.Row     // parallel to Obs; nil if there are more than MostRows
	Caps        []Caps            // of the machines that rows were measured with
	Series      []Series          // sorted by Obs
	Remarks     []Remark          // flags that the rows brought along, by name
	Sides       []string          // names of the sides that a comparison has
	Bad         []results.BadRow  // the first MostBad
	BadRows     int               // all of them
	medians     []PairMedian      // parallel to Pairs
}

// Remark is a flag that rows brought along, such as results.FlagSlowStart.
type Remark struct {
	Flag string `json:"flag"`
	Rows int    `json:"rows"`
}

// Pair is a directed pair of regions.
type Pair struct {
	From, To int     // index Data.Regions; the same for a row within one region
	Km       float64 // great-circle distance; NaN if nobody knows it
}

// Within is true of a pair whose ends are in one region.
func (p Pair) Within() bool { return p.From == p.To }

// Status is what became of a row.
type Status uint8

// As results.StatusOK and so on.
const (
	OK Status = iota
	Failed
	Skipped
)

// Obs is what statistics and charts need of a row, small enough for millions.
// A figure that nobody measured is NaN.
type Obs struct {
	Pair       int32 // index Data.Pairs
	Source     int16 // index Data.Sources
	Status     Status
	Side       int16   // index Data.Sides
	Caps       int32   // index Data.Caps
	RTTMs      float64 // the median; the mean where the row has none
	RTTMinMs   float64 // the least figure that the row has of its RTT
	GoodputBps float64
}

// Series is how the throughput test of one row went on.
type Series struct {
	Obs int32 // index Data.Obs
	results.Series
}

// PairMedian sums up the rows of a pair.
type PairMedian struct {
	OK, Failed, Skipped int     // rows
	RTTMs, GoodputBps   float64 // medians over the rows that are ok; NaN if none has the figure
	RTTMinMs            float64 // the least; NaN if none
}

// Name is the pair for people: "aws:us-east-1 to gcp:us-west1".
func (d *Data) Name(p Pair) string {
	return d.Regions[p.From].ID() + " to " + d.Regions[p.To].ID()
}

// Group names the directed cloud pair of p, as GroupOf does for a row.
func (d *Data) Group(p Pair) string {
	return d.Regions[p.From].Cloud + "-" + d.Regions[p.To].Cloud
}

// Medians are parallel to d.Pairs.
func (d *Data) Medians() []PairMedian { return d.medians }
