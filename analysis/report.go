package analysis

import "github.com/antipode-bench/antipode/results"

// ReportSchema is the version of Report's JSON. It goes up when a reader of an
// earlier one would misread it.
const ReportSchema = 1

// Report is what rows say: `antipode report --json` prints it.
type Report struct {
	Schema    int              `json:"schema"`
	Sentences []string         `json:"summary"` // the report in a few sentences
	Sources   []results.Source `json:"sources"`
	Rows      RowCounts        `json:"rows"`
	Method    Method           `json:"method"`
	Groups    []GroupReport    `json:"groups"`                      // All, then each directed cloud pair by name
	Remarks   []Remark         `json:"remarks"`                     // flags that rows brought along
	Checks    []Check          `json:"checks"`                      // one for each flag, also those of no row
	Flagged   []Flagged        `json:"flagged"`                     // the first MostBad of each flag
	Misplaced []Misplaced      `json:"misplaced"`                   // the one that explains most comes first
	NotPlaced string           `json:"misplaced_unknown,omitempty"` // why none is named though rows are too fast
	Bad       []results.BadRow `json:"bad_rows"`                    // the first MostBad
}

// RowCounts says where every row went.
type RowCounts struct {
	Read     int `json:"read"` // Accepted + SetApart
	Accepted int `json:"accepted"`
	SetApart int `json:"set_apart"` // bad rows
	OK       int `json:"ok"`
	Failed   int `json:"failed"`
	Skipped  int `json:"skipped"`
	Within   int `json:"within_one_region"` // accepted, but in nothing that follows
	Unplaced int `json:"unplaced"`          // accepted, but nobody knows the distance
	Regions  int `json:"regions"`
	Pairs    int `json:"pairs"` // directed, of two regions
}

// Method says how the figures came about.
type Method struct {
	Seed        uint64  `json:"seed"`      // of the bootstrap and of the sampled slopes
	Resamples   int     `json:"resamples"` // of regions, within their clouds
	Confidence  float64 `json:"confidence"`
	FibreIndex  float64 `json:"fibre_index"`
	Coordinates string  `json:"coordinates"`
}

// GroupReport is what the rows of one directed cloud pair, or all of them, say.
type GroupReport struct {
	Name       string    `json:"name"`
	Rows       int       `json:"rows"`
	OK         int       `json:"ok"`
	Failed     int       `json:"failed"`
	Skipped    int       `json:"skipped"`
	Pairs      int       `json:"pairs"` // directed pairs of regions with a row that is ok
	Regions    int       `json:"regions"`
	RTT        Relation  `json:"rtt_ms_over_distance"`
	Goodput    Relation  `json:"log10_goodput_over_distance"`
	RTTMs      Quantiles `json:"rtt_ms"`
	GoodputBps Quantiles `json:"goodput_bps"`
	Inflation  Quantiles `json:"rtt_inflation"` // RTT over light's in fibre, of pairs at least InflationKm apart
	Sentences  []string  `json:"sentences"`
}

// Estimate is a figure and its interval. Both ends are nil where there are too
// few regions for one.
type Estimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// Relation is how a figure goes with distance: RTT in ms, or log10 of goodput
// in bit/s. Pearson's r and least squares are over rows, the robust figures over
// the medians of pairs, so that a pair measured often counts once.
type Relation struct {
	N            int       `json:"n"`      // rows
	Absent       int       `json:"absent"` // rows that are ok but lack the figure or the distance
	Pearson      *Estimate `json:"pearson_r"`
	LeastSquares *Line     `json:"least_squares"`
	PairMedians  int       `json:"pair_medians"`
	Spearman     *Estimate `json:"spearman_rho"`
	TheilSen     *Line     `json:"theil_sen"`
	Slopes       int       `json:"theil_sen_slopes"`  // that the median is of
	Sampled      bool      `json:"theil_sen_sampled"` // not all slopes that there are, but a random part
	NoFit        string    `json:"no_fit,omitempty"`  // why there are no figures
	Caution      string    `json:"caution,omitempty"` // what there are too few for
}

// Line is y = Intercept + SlopePerKm * km.
type Line struct {
	Intercept  float64  `json:"intercept"`
	SlopePerKm Estimate `json:"slope_per_km"`
}

// At is the line's y at a distance.
func (l Line) At(km float64) float64 { return l.Intercept + l.SlopePerKm.Value*km }

// Quantiles are over the medians of pairs. Without any, N is 0.
type Quantiles struct {
	N      int      `json:"n"`
	Min    float64  `json:"min"`
	P10    float64  `json:"p10"`
	P25    float64  `json:"p25"`
	Median Estimate `json:"median"`
	P75    float64  `json:"p75"`
	P90    float64  `json:"p90"`
	P99    float64  `json:"p99"`
	Max    float64  `json:"max"`
}

// Check is one thing that rows were held against.
type Check struct {
	Flag    string `json:"flag"`
	Title   string `json:"title"`
	Text    string `json:"text"`    // what it means, a sentence
	Rows    int    `json:"rows"`    // that have the flag
	Checked int    `json:"checked"` // that it could be asked of
}

// Flagged is a row that a check found.
type Flagged struct {
	Obs  int    `json:"row"` // the place among the accepted rows, from 0: indexes Data.Obs
	File string `json:"file"`
	From string `json:"from"` // "aws:us-east-1"
	To   string `json:"to"`
	Flag string `json:"flag"`
	Text string `json:"text"` // with the figures
}

// Misplaced is a region whose coordinates can't be right: one of the smallest
// set of regions without which no row is faster than light in fibre.
type Misplaced struct {
	Region     string  `json:"region"`
	Latitude   float64 `json:"latitude"` // as it was taken
	Longitude  float64 `json:"longitude"`
	Violations int     `json:"violations"` // rows of it that are faster than light in fibre
	Likely     *Place  `json:"likely"`     // where its RTTs put it; nil if they are too few
	Sentence   string  `json:"sentence"`
}

// Place is where RTTs put a region, within some hundred km.
type Place struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	MovedKm   float64 `json:"moved_km"` // from where it was taken to be
	Near      string  `json:"near"`     // the nearest other region of the rows
}
