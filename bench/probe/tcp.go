//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// transfer is what one throughput test of any tool says, and what it cost.
type transfer struct {
	bps      float64 // goodput at the receiver, bit/s, of the whole test
	cpuPerGB float64 // CPU seconds of the whole computer per 10^9 bytes
}

// load is what all tools are asked to do alike.
type load struct {
	congestion string // control
	streams    int
	seconds    int
}

// tcpTool measures TCP goodput from one namespace to the other.
type tcpTool struct {
	name   string
	server []string
	client func(addr string, load load) []string
	read   func(output []byte) (bytes, seconds float64, err error)
}

func tcpTools(probe string) []tcpTool {
	iperf := func(options ...string) func(string, load) []string {
		return func(addr string, l load) []string {
			return append([]string{"iperf3", "-J", "-c", addr, "-C", l.congestion,
				"-t", strconv.Itoa(l.seconds), "-P", strconv.Itoa(l.streams)}, options...)
		}
	}
	return []tcpTool{
		{"antipode-probe", []string{probe, "serve", "--insecure", "--listen", "0.0.0.0:8462"},
			func(addr string, l load) []string {
				return []string{probe, "test", addr, "--insecure", "--json", "--rtt-probes", "0", "--congestion-control", l.congestion,
					"--stop", "duration", "--duration", fmt.Sprint(l.seconds, "s"), "--streams", strconv.Itoa(l.streams)}
			}, readProbe},
		{"iperf3", []string{"iperf3", "-s"}, iperf(), readIperf3},
		{"iperf3 -Z", []string{"iperf3", "-s"}, iperf("-Z"), readIperf3},
	}
}

func readProbe(output []byte) (bytes, seconds float64, err error) {
	var r struct {
		Bytes     float64 `json:"bytes"`
		DurationS float64 `json:"duration_s"`
	}
	err = json.Unmarshal(output, &r)
	return r.Bytes, r.DurationS, err
}

func readIperf3(output []byte) (bytes, seconds float64, err error) {
	var r struct {
		End struct {
			Received struct {
				Bytes   float64 `json:"bytes"`
				Seconds float64 `json:"seconds"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	err = json.Unmarshal(output, &r)
	return r.End.Received.Bytes, r.End.Received.Seconds, err
}

// transfer runs the tool's client once. Its server runs.
func (t *tcpTool) transfer(ctx context.Context, from, to *namespace, load load) (transfer, error) {
	before, err := busyCPU()
	if err != nil {
		return transfer{}, err
	}
	args := t.client(to.addr, load)
	out, err := from.output(ctx, args[0], args[1:]...)
	if err != nil {
		return transfer{}, err
	}
	after, err := busyCPU()
	if err != nil {
		return transfer{}, err
	}
	bytes, lasted, err := t.read(out)
	if err != nil || bytes == 0 || lasted == 0 {
		return transfer{}, fmt.Errorf("%s: %v, %.0f bytes in %.1f s: %.200s", t.name, err, bytes, lasted, out)
	}
	return transfer{bytes * 8 / lasted, (after - before) / (bytes / 1e9)}, nil
}
