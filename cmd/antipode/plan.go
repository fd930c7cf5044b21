package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/units"
)

const (
	// usualRate is the mean of a sweep of 45 regions of AWS and Google Cloud, t3.nano
	// and e2-small, that others published: 645.293 GB in 2,138 transfers of ten
	// seconds (doitintl/intercloud-throughput, February 2022), in bytes a second.
	usualRate = 645.293e9 / 2138 / 10
	// usualExcess is how much longer than its bound a schedule takes at most.
	usualExcess = 1.03
)

func newPlan() *cobra.Command {
	f := defaultSweepFlags()
	var asJSON bool
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
counted as if on demand. For a lab it says what the clouds would charge: the lab costs nothing.`,
		Example: `  antipode plan
  antipode plan --clouds gcp --bytes 100MB
  antipode plan --continents europe --batch-size 10 --json`,
		Args: noSweepArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.settle(cmd.Flags())
			return tellPlan(f, asJSON, cmd.OutOrStdout())
		},
	}
	cmd.Flags().SortFlags = false
	group(cmd.Flags(), "The plan", func() {
		cmd.Flags().BoolVar(&asJSON, "json", false, "print the plan as JSON")
	})
	f.register(cmd)
	return cmd
}

func tellPlan(f *sweepFlags, asJSON bool, stdout io.Writer) error {
	p, err := f.plan()
	if errors.Is(err, plan.ErrNoneMissing) && !asJSON {
		return f.tellNoneMissing(stdout)
	}
	if err != nil && !errors.Is(err, plan.ErrNoneMissing) {
		return err
	}
	forecast := p.forecast()
	if asJSON {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		err = e.Encode(forecast)
	} else {
		_, err = io.WriteString(stdout, p.describe()+forecast.describe(f.labName != ""))
	}
	return cmp.Or(err, p.afford(forecast))
}

// forecast is a plan's figures.
type forecast struct {
	Regions   int        `json:"regions"`
	Pairs     int        `json:"pairs"`
	LeftOut   int        `json:"pairs_left_out"` // by --max-batches
	Names     []string   `json:"left_out,omitempty"`
	Batches   int        `json:"batches"`
	Machines  int        `json:"machines"` // launched, in all batches
	ExpectedS float64    `json:"expected_s"`
	BoundS    float64    `json:"bound_s"` // no schedule is shorter
	Bytes     float64    `json:"bytes"`
	USD       float64    `json:"usd"`
	Parts     plan.Parts `json:"usd_of"`
	Unknown   []string   `json:"unknown_prices"` // counted at an upper bound
	BudgetUSD float64    `json:"budget_usd,omitempty"`
	Bursts    []burst    `json:"bursts"`                    // of burstable machines, the longest first
	Repeats   int        `json:"repeats"`                   // of each pair
	AtMost    bool       `json:"repeats_at_most,omitempty"` // --until-stable
}

func (p planned) forecast() forecast {
	batches, beyond, alone := p.batches()
	f := forecast{Regions: len(p.regions), Pairs: len(p.pairs) - len(beyond), LeftOut: len(beyond), Batches: len(batches), Machines: plan.Machines(batches), Unknown: []string{}, BudgetUSD: p.flags.budgetUSD,
		Repeats: p.flags.repeat.rounds(), AtMost: p.flags.repeat.untilStable != 0}
	for _, pair := range beyond {
		f.Names = append(f.Names, pair.String())
	}
	for _, batch := range batches {
		f.BoundS += p.expectedOf(batch).Seconds()
	}
	f.ExpectedS, f.Bursts = f.BoundS*usualExcess, p.bursts(batches)
	f.Bytes = p.expectedBytes() * float64(len(p.open())-len(beyond)-len(alone))
	cost := plan.Price(p.rates, batches, plan.Use{
		MachineTypes: p.flags.machines.first(),
		Life: func(batch []plan.Pair) time.Duration {
			return orchestrator.AroundTests + time.Duration(usualExcess*float64(p.expectedOf(batch)))
		},
		Bytes: func(plan.Pair) float64 { return p.expectedBytes() },
	})
	f.USD, f.Parts = cost.USD(), cost.Parts
	f.Unknown = append(f.Unknown, cost.Unknown...)
	return f
}

// expectedBytes is what a pair sends in all its repetitions.
func (p planned) expectedBytes() float64 {
	return p.flags.expectedBytes() * float64(p.flags.repeat.rounds())
}

// expectedBytes is what a pair sends once.
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
	if f.AtMost {
		fmt.Fprintf(&b, "  each pair at most %d times, of which all are counted here: most pairs need fewer\n", f.Repeats)
	} else if f.Repeats > 1 {
		fmt.Fprintf(&b, "  each pair %d times, in rounds\n", f.Repeats)
	}
	if f.Batches > 1 {
		fmt.Fprintf(&b, "  in %d batches, which launch %s in all\n", f.Batches, plural(f.Machines, "machine"))
	}
	if f.LeftOut > 0 {
		fmt.Fprintf(&b, "  %s left out by --max-batches, %d are measured; --into FILE leaves those to another sweep, antipode plan --json names them\n", plural(f.LeftOut, "pair"), f.Pairs)
	}
	b.WriteString(burstWords(f.Bursts))
	fmt.Fprintf(&b, "  about %s sent\n", units.Bytes(f.Bytes))
	if onLab {
		fmt.Fprintf(&b, "  the clouds would charge about %s; the lab charges nothing\n", costWords(f.USD, f.Parts))
	} else {
		fmt.Fprintf(&b, "  about %s\n", costWords(f.USD, f.Parts))
	}
	if n := len(f.Unknown); n > 0 {
		const shown = 5
		fmt.Fprintf(&b, "  %s not known, counted at the upper bound: %s", plural(n, "price"), strings.Join(f.Unknown[:min(n, shown)], ", "))
		if n > shown {
			fmt.Fprintf(&b, " and %d more (antipode plan --json lists them)", n-shown)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// estimate is what the run keeps of it.
func (f forecast) estimate() *orchestrator.Estimate {
	return &orchestrator.Estimate{ExpectedS: f.ExpectedS, BoundS: f.BoundS, Bytes: f.Bytes, USD: f.USD}
}

func costWords(total float64, p plan.Parts) string {
	return fmt.Sprintf("%s USD: machines %s, disks %s, public IPv4 %s, data sent %s", usd(total), usd(p.Machines), usd(p.Disks), usd(p.Addresses), usd(p.Egress))
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Second)
}
