//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUDPByHand(t *testing.T) {
	addr := serving(t)
	file := filepath.Join(t.TempDir(), "samples.csv")
	got := running(t, probeCommand("test", addr, "--udp", "--bytes", "1448kB", "--rate", "200M", "--rtt-probes", "3", "--samples", file))
	if got.code != 0 || got.errOut != "" {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{"round trip  p50 ", "UDP         ", ", of 200 Mbit/s; ", " of 1448 bytes", "with segmentation offload\n",
		"received    1,000 of 1,000 datagrams: 0 % lost, 0 reordered, 0 twice; jitter "} {
		if !strings.Contains(got.out, want) {
			t.Errorf("does not say %q:\n%s", want, got.out)
		}
	}
	samples, err := os.ReadFile(file)
	if err != nil || !strings.HasSuffix(string(samples), ",1000,1000,0,0,0,"+lastCell(string(samples))) {
		t.Errorf("samples: %v\n%s", err, samples)
	}
}

// lastCell is that of a table, with the end of its line.
func lastCell(table string) string { return table[strings.LastIndexByte(table, ',')+1:] }

func TestUDPByHandAsJSON(t *testing.T) {
	addr := serving(t)
	got := running(t, probeCommand("test", addr, "--udp", "--duration", "100ms", "--rate", "8M", "--datagram", "100", "--no-offload", "--rtt-probes", "0", "--json"))
	r := decode(t, got.out)
	for name, want := range map[string]any{
		"status": "ok", "udp_target_bps": 8e6, "udp_datagram_bytes": 100., "udp_loss_ratio": 0., "udp_reordered": 0., "udp_duplicates": 0.,
		"udp_offload": false, "goodput_bps": nil, "rtt_probes": nil,
	} {
		if r[name] != want {
			t.Errorf("%s is %v, want %v", name, r[name], want)
		}
	}
	for _, name := range []string{"udp_goodput_bps", "udp_packets_per_s", "udp_jitter_ms", "udp_sent", "udp_received", "udp_duration_s"} {
		if v, is := r[name].(float64); !is || v < 0 {
			t.Errorf("%s is %v", name, r[name])
		}
	}
}

func TestUDPByHandMisused(t *testing.T) {
	for args, says := range map[string]string{
		"--udp --streams 2":               "--streams is for TCP",
		"--udp --congestion-control bbr":  "--congestion-control is for TCP",
		"--no-offload":                    "--no-offload needs --udp",
		"--datagram 100":                  "--datagram needs --udp",
		"--udp --datagram 23":             "datagram_bytes 23",
		"--udp --rate 1":                  "rate_bps 1",
		"--udp --rate fast":               `"fast"`,
		"--udp --duration 0 --rtt-probes": "flag needs an argument",
	} {
		got := running(t, probeCommand(append([]string{"test", "127.0.0.1:1"}, strings.Fields(args)...)...))
		if got.code != 2 || !strings.Contains(got.errOut, says) || got.out != "" {
			t.Errorf("%s: %+v, want exit code 2 and %q", args, got, says)
		}
	}
}
