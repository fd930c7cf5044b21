//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
)

// roundTrip has percentiles of the round-trip time, in microseconds; NaN what a
// tool does not tell.
type roundTrip struct{ p50Us, p99Us float64 }

// rttTool measures round-trip times 1 ms apart.
type rttTool struct {
	name   string
	server []string // none: the kernel answers
	client func(addr string, probes int) []string
	read   func(output []byte) (roundTrip, error)
}

func rttTools(probe string) []rttTool {
	server := []string{probe, "serve", "--insecure", "--listen", "0.0.0.0:8462"}
	client := func(addr string, probes int) []string {
		return []string{probe, "test", addr, "--insecure", "--json", "--duration", "0",
			"--rtt-probes", strconv.Itoa(probes), "--rtt-interval", "1ms"}
	}
	return []rttTool{
		{"antipode-probe", server, client, readProbeRTT},
		{"its user space", server, client, readProbeUserRTT},
		{"ping", nil,
			func(addr string, probes int) []string {
				return []string{"ping", "-n", "-i", "0.001", "-c", strconv.Itoa(probes), addr}
			}, readPing},
		{"irtt", []string{"irtt", "server", "-i", "1ms"},
			func(addr string, probes int) []string {
				return []string{"irtt", "client", "-Q", "-i", "1ms", "-d", fmt.Sprint(probes, "ms"), "-o", "-", addr}
			}, readIRTT},
		{"sockperf --full-rtt", []string{"sockperf", "server", "-p", "11111"},
			func(addr string, probes int) []string {
				return []string{"sockperf", "ping-pong", "-i", addr, "-p", "11111", "--full-rtt", "--mps", "1000", "-t", strconv.Itoa(max(1, probes/1000))}
			}, readSockperf},
	}
}

// readProbeRTT refuses times that are not of the kernels' stamps.
func readProbeRTT(output []byte) (roundTrip, error) {
	var r struct {
		P50Ms  float64 `json:"rtt_p50_ms"`
		P99Ms  float64 `json:"rtt_p99_ms"`
		Stamps string  `json:"rtt_stamps"`
	}
	err := json.Unmarshal(output, &r)
	if err == nil && r.Stamps != "kernel" {
		err = fmt.Errorf("its times are by %q stamps", r.Stamps)
	}
	return roundTrip{1000 * r.P50Ms, 1000 * r.P99Ms}, err
}

// readProbeUserRTT takes what the probe's processes saw, to compare with tools
// that measure so.
func readProbeUserRTT(output []byte) (roundTrip, error) {
	var r struct {
		P50Ms float64 `json:"rtt_user_p50_ms"`
		P99Ms float64 `json:"rtt_user_p99_ms"`
	}
	err := json.Unmarshal(output, &r)
	return roundTrip{1000 * r.P50Ms, 1000 * r.P99Ms}, err
}

var pingTime = regexp.MustCompile(`time=([0-9.]+) ms`)

func readPing(output []byte) (roundTrip, error) {
	var us []float64
	for _, m := range pingTime.FindAllSubmatch(output, -1) {
		ms, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return roundTrip{}, err
		}
		us = append(us, 1000*ms)
	}
	if len(us) == 0 {
		return roundTrip{}, errors.New("no answers")
	}
	slices.Sort(us)
	return roundTrip{percentile(us, .5), percentile(us, .99)}, nil
}

// readIRTT computes what irtt does not print: it gives every round trip.
func readIRTT(output []byte) (roundTrip, error) {
	var r struct {
		RoundTrips []struct {
			Delay struct {
				RTT float64 `json:"rtt"` // ns
			} `json:"delay"`
		} `json:"round_trips"`
	}
	if err := json.Unmarshal(output, &r); err != nil {
		return roundTrip{}, err
	}
	var us []float64
	for _, trip := range r.RoundTrips {
		if trip.Delay.RTT > 0 {
			us = append(us, trip.Delay.RTT/1000)
		}
	}
	if len(us) == 0 {
		return roundTrip{}, errors.New("no answers")
	}
	slices.Sort(us)
	return roundTrip{percentile(us, .5), percentile(us, .99)}, nil
}

var sockperfPercentile = regexp.MustCompile(`percentile (50|99)\.000 = +([0-9.]+)`)

func readSockperf(output []byte) (roundTrip, error) {
	r := roundTrip{math.NaN(), math.NaN()}
	for _, m := range sockperfPercentile.FindAllSubmatch(output, -1) {
		us, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			return r, err
		}
		if string(m[1]) == "50" {
			r.p50Us = us
		} else {
			r.p99Us = us
		}
	}
	if math.IsNaN(r.p50Us) {
		return r, fmt.Errorf("no percentiles: %.200s", output)
	}
	return r, nil
}

// percentile takes the nearest rank of sorted values.
func percentile(sorted []float64, p float64) float64 {
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

func (t *rttTool) measure(ctx context.Context, from, to *namespace, probes int) (roundTrip, error) {
	args := t.client(to.addr, probes)
	out, err := from.output(ctx, args[0], args[1:]...)
	if err != nil {
		return roundTrip{}, err
	}
	r, err := t.read(out)
	if err != nil {
		return r, fmt.Errorf("%s: %w", t.name, err)
	}
	return r, nil
}
