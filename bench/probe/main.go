//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"
)

func main() {
	var c comparison
	pflag.IntVar(&c.seconds, "seconds", 3, "length of a throughput test")
	pflag.IntVar(&c.probes, "probes", 3000, "round trips of a test, 1 ms apart")
	pflag.StringSliceVar(&c.controls, "congestion-control", []string{"cubic", "bbr"}, "of all tools' TCP, one after the other")
	pflag.StringVar(&c.program, "probe", "bin/antipode-probe", "the probe")
	rounds := pflag.Int("rounds", 7, "how often every tool is run")
	tables := pflag.StringSlice("tables", []string{"tcp", "udp", "rtt"}, "what to compare")
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, c, *tables, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// comparison is what the tools are to do.
type comparison struct {
	program  string // the probe
	seconds  int    // of each throughput test
	probes   int    // of each round-trip test
	controls []string
}

func run(ctx context.Context, c comparison, tables []string, rounds int) (err error) {
	if c.program, err = filepath.Abs(c.program); err != nil {
		return err
	}
	from, err := newNamespace("198.18.0.1")
	if err != nil {
		return err
	}
	to, err := newNamespace("198.18.0.2")
	if err != nil {
		return err
	}
	if err := join(from, to); err != nil {
		return err
	}
	b := bench{ctx, from, to, rounds}
	for _, name := range tables {
		if err := b.compare(name, c); err != nil {
			return err
		}
	}
	return nil
}

// compare makes the tables of one kind.
func (b *bench) compare(kind string, c comparison) error {
	switch kind {
	case "tcp":
		for _, control := range c.controls {
			for _, streams := range []int{1, 8} {
				if err := b.tcp(tcpTools(c.program), load{control, streams, c.seconds}); err != nil {
					return err
				}
			}
		}
		return nil
	case "udp":
		return errors.Join(b.udp(udpTools(c.program), 1448, c.seconds), b.udp(udpTools(c.program), 64, c.seconds))
	case "rtt":
		return b.rtt(rttTools(c.program), c.probes)
	}
	return fmt.Errorf("no table %q: want tcp, udp or rtt", kind)
}

// bench runs tools in turn between two namespaces.
type bench struct {
	ctx      context.Context
	from, to *namespace
	rounds   int
}

func (b *bench) tcp(tools []tcpTool, load load) error {
	tools = installed(tools, func(t tcpTool) string { return t.server[0] })
	goodput, cpu := make([][]float64, len(tools)), make([][]float64, len(tools))
	for round := range b.rounds {
		for i := range tools {
			k := (i + round) % len(tools) // who is first changes
			var r transfer
			err := b.served(tools[k].server, func() (err error) {
				r, err = tools[k].transfer(b.ctx, b.from, b.to, load)
				return err
			})
			if err != nil {
				return err
			}
			goodput[k] = append(goodput[k], r.bps/1e9)
			cpu[k] = append(cpu[k], r.cpuPerGB)
		}
		fmt.Fprintf(os.Stderr, "\r%s, %d streams: round %d of %d ", load.congestion, load.streams, round+1, b.rounds)
	}
	fmt.Fprint(os.Stderr, "\r\033[K")
	fmt.Printf("\nTCP, %s, %d streams, %d s, whole test; median [range] of %d\n", load.congestion, load.streams, load.seconds, b.rounds)
	rows := [][]string{{"", "Gbit/s", "probe / tool", "CPU s per GB", "probe / tool"}}
	for i, t := range tools {
		rows = append(rows, []string{t.name, spread(goodput[i]), ratio(goodput[0], goodput[i]), spread(cpu[i]), ratio(cpu[0], cpu[i])})
	}
	return table(rows)
}

func (b *bench) rtt(tools []rttTool, probes int) error {
	tools = installed(tools, func(t rttTool) string { return t.client("", 1)[0] })
	p50, p99 := make([][]float64, len(tools)), make([][]float64, len(tools))
	for round := range b.rounds {
		for i := range tools {
			k := (i + round) % len(tools)
			var r roundTrip
			err := b.served(tools[k].server, func() (err error) {
				r, err = tools[k].measure(b.ctx, b.from, b.to, probes)
				return err
			})
			if err != nil {
				return err
			}
			p50[k], p99[k] = append(p50[k], r.p50Us), append(p99[k], r.p99Us)
		}
		fmt.Fprintf(os.Stderr, "\rround trips: round %d of %d ", round+1, b.rounds)
	}
	fmt.Fprint(os.Stderr, "\r\033[K")
	fmt.Printf("\nRound trips, %d, 1 ms apart, µs; median [range] of %d\n", probes, b.rounds)
	rows := [][]string{{"", "p50", "probe - tool", "p99", "probe / tool"}}
	for i, t := range tools {
		rows = append(rows, []string{t.name, spread(p50[i]), fmt.Sprintf("%+.1f", median(p50[0])-median(p50[i])), spread(p99[i]), ratio(p99[0], p99[i])})
	}
	return table(rows)
}

// installed leaves out the tools that are not here, and names them.
func installed[T any](tools []T, program func(T) string) (here []T) {
	for _, t := range tools {
		if _, err := exec.LookPath(program(t)); err != nil {
			fmt.Fprintf(os.Stderr, "bench: without %s: %v\n", program(t), err)
			continue
		}
		here = append(here, t)
	}
	return here
}

// listening is how long a server may need until it listens: none of the peers
// says when it does.
const listening = 300 * time.Millisecond

// served runs f while a tool's server runs.
func (b *bench) served(server []string, f func() error) error {
	if server == nil {
		return f()
	}
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, server[0], server[1:]...)
	if err := b.to.start(cmd); err != nil {
		return err
	}
	defer cmd.Wait() // killed by now
	defer cancel()
	time.Sleep(listening)
	return f()
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func spread(values []float64) string {
	return fmt.Sprintf("%.3g [%.3g-%.3g]", median(values), slices.Min(values), slices.Max(values))
}

// ratio is of medians.
func ratio(a, b []float64) string { return fmt.Sprintf("%.2f", median(a)/median(b)) }

func table(rows [][]string) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}
