//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// datagrams is what one UDP test of any tool says of what was received.
type datagrams struct{ perSecond, lossRatio float64 }

// udpTool sends datagrams of so many bytes as fast as it can.
type udpTool struct {
	name   string
	server []string
	client func(addr string, bytes, seconds int) []string
	read   func(output []byte) (datagrams, error)
}

func udpTools(probe string) []udpTool {
	ours := func(options ...string) func(string, int, int) []string {
		return func(addr string, bytes, seconds int) []string {
			return append([]string{probe, "test", addr, "--insecure", "--json", "--rtt-probes", "0", "--udp", "--rate", "0",
				"--duration", fmt.Sprint(seconds, "s"), "--datagram", strconv.Itoa(bytes)}, options...)
		}
	}
	serve := []string{probe, "serve", "--insecure", "--listen", "0.0.0.0:8462"}
	return []udpTool{
		{"iperf3", []string{"iperf3", "-s"}, func(addr string, bytes, seconds int) []string {
			return []string{"iperf3", "-J", "-u", "-b", "0", "-c", addr, "-t", strconv.Itoa(seconds), "-l", strconv.Itoa(bytes)}
		}, readIperf3UDP},
		{"antipode-probe", serve, ours(), readProbeUDP},
		{"antipode-probe --no-offload", serve, ours("--no-offload"), readProbeUDP},
	}
}

func readProbeUDP(output []byte) (datagrams, error) {
	var r struct {
		PerSecond float64 `json:"udp_packets_per_s"`
		LossRatio float64 `json:"udp_loss_ratio"`
	}
	err := json.Unmarshal(output, &r)
	return datagrams{r.PerSecond, r.LossRatio}, err
}

// readIperf3UDP counts what the sender sent less what the receiver lost, over
// the sender's time.
func readIperf3UDP(output []byte) (datagrams, error) {
	var r struct {
		End struct {
			Sum struct {
				Seconds float64 `json:"seconds"`
				Packets float64 `json:"packets"`
				Lost    float64 `json:"lost_packets"`
			} `json:"sum"`
		} `json:"end"`
	}
	if err := json.Unmarshal(output, &r); err != nil {
		return datagrams{}, err
	}
	s := r.End.Sum
	if s.Packets == 0 || s.Seconds == 0 {
		return datagrams{}, fmt.Errorf("no packets: %.200s", output)
	}
	return datagrams{(s.Packets - s.Lost) / s.Seconds, s.Lost / s.Packets}, nil
}

func (t *udpTool) measure(ctx context.Context, from, to *namespace, bytes, seconds int) (datagrams, error) {
	args := t.client(to.addr, bytes, seconds)
	out, err := from.output(ctx, args[0], args[1:]...)
	if err != nil {
		return datagrams{}, err
	}
	r, err := t.read(out)
	if err != nil || r.perSecond == 0 {
		return r, fmt.Errorf("%s: %v: %.200s", t.name, err, out)
	}
	return r, nil
}

// udp compares with the first tool.
func (b *bench) udp(tools []udpTool, bytes, seconds int) error {
	tools = installed(tools, func(t udpTool) string { return t.server[0] })
	rates, losses := make([][]float64, len(tools)), make([][]float64, len(tools))
	for round := range b.rounds {
		for i := range tools {
			k := (i + round) % len(tools)
			var r datagrams
			err := b.served(tools[k].server, func() (err error) {
				r, err = tools[k].measure(b.ctx, b.from, b.to, bytes, seconds)
				return err
			})
			if err != nil {
				return err
			}
			rates[k], losses[k] = append(rates[k], r.perSecond/1e3), append(losses[k], 100*r.lossRatio)
		}
		fmt.Fprintf(os.Stderr, "\rUDP, %d bytes: round %d of %d ", bytes, round+1, b.rounds)
	}
	fmt.Fprint(os.Stderr, "\r\033[K")
	fmt.Printf("\nUDP, datagrams of %d bytes, %d s, received; median [range] of %d\n", bytes, seconds, b.rounds)
	rows := [][]string{{"", "1000 datagrams/s", "tool / " + tools[0].name, "lost, %"}}
	for i, t := range tools {
		rows = append(rows, []string{t.name, spread(rates[i]), ratio(rates[i], rates[0]), spread(losses[i])})
	}
	return table(rows)
}
