package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/prices"
	"github.com/antipode-bench/antipode/units"
)

const (
	// usualRate is the mean of a sweep of 45 regions of AWS and Google Cloud, t3.nano
	// and e2-small, that others published: 645.293 GB in 2,138 transfers of ten
	// seconds (doitintl/intercloud-throughput, February 2022), in bytes a second.
	usualRate = 645.293e9 / 2138 / 10
	// aroundTests is how long machines live besides: launch, reaching, teardown.
	aroundTests = 4 * time.Minute
	// usualExcess is how much longer than its bound a schedule takes at most.
	usualExcess = 1.03
)

func newPlan() *cobra.Command {
	f := defaultSweepFlags()
	var asJSON bool
	var pricesFile string
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say what a sweep would measure, how long it takes and what it costs",
		Long: `Plan takes the flags of a sweep and says which regions and pairs it would measure, how
long that takes, how much data is sent, and what the clouds charge for it: machines by the
hour, their disks and public IPv4 addresses, and data by pair. It asks nobody and creates
nothing.

How fast a pair sends is not known before: where --bytes sets no limit, the mean of a published
sweep is taken. Prices come from a table with dates and sources; --prices FILE overrides single
ones. What has no known price is named and counted at its upper bound. Spot machines are
counted as if on demand.`,
		Example: `  antipode plan
  antipode plan --clouds gcp --bytes 100MB
  antipode plan --continents europe --batch-size 10 --json`,
		Args: noSweepArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.stop.settle(cmd.Flags())
			table, err := pricesFrom(pricesFile)
			if err != nil {
				return err
			}
			return tellPlan(f, table, asJSON, cmd.OutOrStdout())
		},
	}
	cmd.Flags().SortFlags = false
	group(cmd.Flags(), "The plan", func() {
		cmd.Flags().BoolVar(&asJSON, "json", false, "print the plan as JSON")
		cmd.Flags().StringVar(&pricesFile, "prices", "", "prices of yours: a YAML `FILE` whose prices replace those built in")
	})
	f.register(cmd)
	return cmd
}

func pricesFrom(file string) (*prices.Table, error) {
	if file == "" {
		return prices.Default(), nil
	}
	table, err := prices.Load(file)
	if err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("--prices: %w", err)}
	}
	return table, nil
}

func tellPlan(f *sweepFlags, table *prices.Table, asJSON bool, stdout io.Writer) error {
	regions, err := regionsFrom(f.lab.regionsFile)
	if err != nil {
		return err
	}
	if regions, err = f.withHosts(regions); err != nil {
		return err
	}
	chosen, pairs, err := f.selection(regions)
	if err != nil {
		return err
	}
	p := planned{regions: chosen, pairs: pairs, flags: f, atOnce: f.atOnce(len(chosen))}
	forecast := p.forecast(table)
	if asJSON {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		return e.Encode(forecast)
	}
	_, err = io.WriteString(stdout, p.describe()+forecast.describe(f.labName != ""))
	return err
}

// forecast is a plan's figures.
type forecast struct {
	Regions   int      `json:"regions"`
	Pairs     int      `json:"pairs"`
	Batches   int      `json:"batches"`
	Machines  int      `json:"machines"` // launched, in all batches
	ExpectedS float64  `json:"expected_s"`
	BoundS    float64  `json:"bound_s"` // no schedule is shorter
	Bytes     float64  `json:"bytes"`
	USD       float64  `json:"usd"`
	Parts     parts    `json:"usd_of"`
	Unknown   []string `json:"unknown_prices"` // counted at an upper bound
}

type parts struct {
	Machines  float64 `json:"machines"`
	Disks     float64 `json:"disks"`
	Addresses float64 `json:"addresses"`
	Egress    float64 `json:"egress"`
}

func (p planned) forecast(table *prices.Table) forecast {
	pairs := p.measurable()
	batches, _ := plan.Batches(pairs, p.atOnce)
	f := forecast{Regions: len(p.regions), Pairs: len(p.pairs), Batches: len(batches), Machines: plan.Machines(batches), Unknown: []string{}}
	for _, batch := range batches {
		f.BoundS += p.expectedOf(batch).Seconds()
	}
	f.ExpectedS = f.BoundS * usualExcess
	f.Bytes = p.flags.expectedBytes() * float64(len(pairs))
	if p.flags.labName != "" {
		return f
	}
	cost := plan.Price(table, batches, plan.Use{
		MachineTypes: p.flags.machines.first(),
		Life: func(batch []plan.Pair) time.Duration {
			return aroundTests + time.Duration(usualExcess*float64(p.expectedOf(batch)))
		},
		Bytes: func(plan.Pair) float64 { return p.flags.expectedBytes() },
		Tier:  p.flags.networkTier,
	})
	f.USD, f.Parts = cost.USD(), parts{cost.Machines, cost.Disks, cost.Addresses, cost.Egress}
	f.Unknown = append(f.Unknown, cost.Unknown...)
	return f
}

// expectedBytes is what a pair sends.
func (f *sweepFlags) expectedBytes() float64 {
	bytes := usualRate * f.stop.length().Seconds()
	if limit := float64(f.stop.bytes); limit > 0 && (limit < bytes || f.stop.by == stopBytes) {
		bytes = limit
	}
	return bytes + f.udp.bytes()
}

func (f forecast) describe(onLab bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  expected %v of tests, no schedule can do with less than %v\n", seconds(f.ExpectedS), seconds(f.BoundS))
	if f.Batches > 1 {
		fmt.Fprintf(&b, "  in %d batches, which launch %s in all\n", f.Batches, plural(f.Machines, "machine"))
	}
	fmt.Fprintf(&b, "  about %s sent\n", units.Bytes(f.Bytes))
	if onLab {
		return b.String()
	}
	fmt.Fprintf(&b, "  about %.2f USD: machines %.2f, disks %.2f, public IPv4 %.2f, data sent %.2f\n",
		f.USD, f.Parts.Machines, f.Parts.Disks, f.Parts.Addresses, f.Parts.Egress)
	if n := len(f.Unknown); n > 0 {
		const shown = 5
		fmt.Fprintf(&b, "  %s not known, counted at the upper bound: %s", plural(n, "price"), strings.Join(f.Unknown[:min(n, shown)], ", "))
		if n > shown {
			fmt.Fprintf(&b, " and %d more (--json lists them)", n-shown)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Second)
}
