package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/results"
)

func newCoverage() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "coverage FILE",
		Short: "Show which pairs a results file has, how old they are, and what is missing",
		Long: `Coverage reads a results file, such as small sweeps add to with --into, and shows its
directed pairs as a matrix: senders down, receivers across, in each cell the days since the
pair was last measured well (99 for more), x where it only failed, and a dot where it is
missing. The pairs are those between the regions that the file has, or with --all between
all commercial regions of AWS and Google Cloud.`,
		Example: `  antipode coverage all.csv
  antipode coverage all.csv --all --json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := results.ReadFile(args[0])
			if err != nil {
				return &exitError{exitUsage, err}
			}
			c := coverageOf(file.Rows, all, time.Now())
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(c)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), c.describe())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON, with the missing pairs by name")
	cmd.Flags().BoolVar(&all, "all", false, "of all commercial regions, whether the file has them or not")
	return cmd
}

// coverage is what a file has of the pairs between regions.
type coverage struct {
	Regions  []string   `json:"regions"`
	Pairs    int        `json:"pairs"`
	Measured int        `json:"measured"` // ok at least once
	Failed   int        `json:"failed"`   // and never ok
	Oldest   *time.Time `json:"oldest"`   // of the newest good rows of the pairs; nil if there are none
	Newest   *time.Time `json:"newest"`
	Missing  []string   `json:"missing"` // never ok, "aws:us-east-1>gcp:us-east4"

	newest map[string]time.Time // by pair
	tried  map[string]bool      // by pair
	now    time.Time
}

func coverageOf(rows []results.Row, all bool, now time.Time) coverage {
	c := coverage{newest: map[string]time.Time{}, tried: map[string]bool{}, now: now, Missing: []string{}}
	named := map[string]bool{}
	for _, r := range rows {
		from, to := r.FromCloud+":"+r.FromRegion, r.ToCloud+":"+r.ToRegion
		named[from], named[to], c.tried[from+">"+to] = true, true, true
		at, err := time.Parse(time.RFC3339, r.Timestamp)
		if r.Status == results.StatusOK && err == nil && at.After(c.newest[from+">"+to]) {
			c.newest[from+">"+to] = at
		}
	}
	if all {
		chosen, _, _ := plan.Select(antipode.Regions(), plan.Wishes{}) // wishes for nothing special: no error
		for _, r := range chosen {
			named[r.ID()] = true
		}
	}
	for id := range named {
		c.Regions = append(c.Regions, id)
	}
	slices.Sort(c.Regions)
	c.count()
	return c
}

// count goes through all pairs.
func (c *coverage) count() {
	for _, from := range c.Regions {
		for _, to := range c.Regions {
			if from == to {
				continue
			}
			pair := from + ">" + to
			c.Pairs++
			at, ok := c.newest[pair]
			if !ok {
				c.Missing = append(c.Missing, pair)
				if c.tried[pair] {
					c.Failed++
				}
				continue
			}
			c.Measured++
			if c.Oldest == nil || at.Before(*c.Oldest) {
				c.Oldest = &at
			}
			if c.Newest == nil || at.After(*c.Newest) {
				c.Newest = &at
			}
		}
	}
}

func (c coverage) describe() string {
	var b strings.Builder
	width := 0
	for _, id := range c.Regions {
		width = max(width, len(id))
	}
	fmt.Fprintf(&b, "%*s", 4+width, "")
	for i := range c.Regions {
		fmt.Fprintf(&b, "%3d", i+1)
	}
	b.WriteByte('\n')
	for i, from := range c.Regions {
		fmt.Fprintf(&b, "%3d %-*s", i+1, width, from)
		for _, to := range c.Regions {
			fmt.Fprintf(&b, "%3s", c.cell(from, to))
		}
		b.WriteByte('\n')
	}
	share := 0.0
	if c.Pairs > 0 {
		share = 100 * float64(c.Measured) / float64(c.Pairs)
	}
	fmt.Fprintf(&b, "\n%d of %s between %s measured (%.0f %%), %d only failed, %d missing\n",
		c.Measured, plural(c.Pairs, "directed pair"), plural(len(c.Regions), "region"), share, c.Failed, len(c.Missing)-c.Failed)
	if c.Oldest != nil {
		fmt.Fprintf(&b, "the oldest from %s, the newest from %s\n", c.Oldest.Format(time.DateOnly), c.Newest.Format(time.DateOnly))
	}
	return b.String()
}

// cell is a pair's age in days, or what it lacks.
func (c coverage) cell(from, to string) string {
	at, ok := c.newest[from+">"+to]
	switch {
	case from == to && !ok:
		return "-"
	case ok:
		return fmt.Sprint(min(99, max(0, int(c.now.Sub(at).Hours()/24))))
	case c.tried[from+">"+to]:
		return "x"
	}
	return "."
}
