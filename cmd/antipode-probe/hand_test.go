//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// serving starts a server of the probe's own and returns where it listens.
func serving(t *testing.T, args ...string) string {
	t.Helper()
	return servingAt(t, "127.0.0.1:0", args...)
}

// servingAt likewise, at an address of its choice.
func servingAt(t *testing.T, listen string, args ...string) string {
	t.Helper()
	cmd := probeCommand(append([]string{"serve", "--listen", listen}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("serve ends with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, found := strings.CutPrefix(strings.TrimSuffix(line, ", TCP and UDP\n"), "listening on ")
	if err != nil || !found {
		t.Fatalf("serve says %q, %v", line, err)
	}
	return addr
}

// outcome is how a command ended and what it said.
type outcome struct {
	code        int
	out, errOut string
}

func running(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // its error is the exit code
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

func TestByHand(t *testing.T) {
	addr := serving(t)
	got := running(t, probeCommand("test", addr, "--bytes", "20MB", "--streams", "2", "--rtt-probes", "10", "--rtt-interval", "1ms"))
	if got.code != 0 || got.errOut != "" {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{"round trip  p50 ", "0 % lost of 10 probes", "goodput     ", "received    20.0 MB in 2 streams under ", "stream 0    ", "stream 1    "} {
		if !strings.Contains(got.out, want) {
			t.Errorf("does not say %q:\n%s", want, got.out)
		}
	}
}

func TestByHandAsJSON(t *testing.T) {
	addr := serving(t)
	got := running(t, probeCommand("test", addr, "--bytes", "5MB", "--rtt-probes", "3", "--json"))
	r := decode(t, got.out)
	if got.code != 0 || r["status"] != "ok" || r["peer"] != addr || r["bytes"] != 5e6 || r["rtt_probes"] != 3. || r["goodput_bps"].(float64) <= 0 {
		t.Errorf("%+v", got)
	}
	// Of what was not measured nothing is said.
	got = running(t, probeCommand("test", addr, "--bytes", "5MB", "--rtt-probes", "0", "--json"))
	if r := decode(t, got.out); got.code != 0 || r["rtt_probes"] != nil || r["bytes"] != 5e6 {
		t.Errorf("%+v", got)
	}
	got = running(t, probeCommand("test", addr, "--duration", "0", "--rtt-probes", "3", "--json"))
	if r := decode(t, got.out); got.code != 0 || r["rtt_probes"] != 3. || r["bytes"] != nil {
		t.Errorf("%+v", got)
	}
	got = running(t, probeCommand("test", addr, "--congestion-control", "none-such", "--json"))
	if r := decode(t, got.out); got.code != 1 || r["status"] != "failed" || r["goodput_bps"] != nil || !strings.Contains(r["error"].(string), "none-such") {
		t.Errorf("%+v", got)
	}
}

func TestSamplesByHand(t *testing.T) {
	addr := serving(t)
	file := filepath.Join(t.TempDir(), "samples.csv")
	got := running(t, probeCommand("test", addr, "--duration", "350ms", "--rtt-probes", "0", "--streams", "2", "--samples", file, "--json"))
	if r := decode(t, got.out); got.code != 0 || len(r["per_stream"].([]any)) != 2 {
		t.Fatalf("%+v", got)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(rows[0][:6], ","); got != "from,to,stream,received_bytes,at_us,acked_bytes" {
		t.Errorf("columns %s", got)
	}
	lines := map[string]int{}
	for _, row := range rows[1:] {
		if row[0] != here || row[1] != addr || (row[2] == "") != (row[3] != "") {
			t.Errorf("row %v", row)
		}
		lines[row[2]]++
	}
	if lines[""] < 4 || lines["0"] < 4 || lines["1"] < 4 || len(lines) != 3 {
		t.Errorf("samples by stream: %v, want at least the ends and three between", lines)
	}
}

func TestOtherWaysByHand(t *testing.T) {
	addr := serving(t)
	got := running(t, probeCommand("test", addr, "--bytes", "5MB", "--rtt-probes", "0", "--bidirectional", "--mss", "1400", "--json"))
	r := decode(t, got.out)
	back, _ := r["back"].(map[string]any)
	if asked := r["asked"].(map[string]any); asked["rate_bps"] != nil {
		t.Errorf("a rate that nobody asked for: %v", asked)
	}
	if got.code != 0 || r["bytes"] != 5e6 || back["bytes"] != 5e6 || r["asked"].(map[string]any)["mss_bytes"] != 1400. {
		t.Errorf("%+v", got)
	}
	got = running(t, probeCommand("test", addr, "--bytes", "5MB", "--rtt-probes", "0", "--reverse", "--dscp", "8", "--json"))
	if r := decode(t, got.out); got.code != 0 || r["bytes"] != 5e6 || r["back"] != nil || r["granted"].(map[string]any)["dscp"] != 8. {
		t.Errorf("%+v", got)
	}
	got = running(t, probeCommand("test", addr, "--bytes", "5MB", "--rtt-probes", "0", "--bidirectional"))
	if got.code != 0 || strings.Count(got.out, "received    5.00 MB") != 2 || !strings.Contains(got.out, "back from the peer") {
		t.Errorf("%+v", got)
	}
}

// decode reads exactly one JSON object on one line.
func decode(t *testing.T, text string) (r map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil || strings.Count(text, "\n") != 1 {
		t.Fatalf("%v: %q", err, text)
	}
	return r
}

func TestSharedSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("correct horse battery\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := serving(t, "--secret-file", file)
	for name, c := range map[string]struct {
		env  string
		code int
		says string
	}{
		"the same":    {"correct horse battery", 0, ""},
		"another":     {"correct horse buttery", 1, "does not hold"},
		"none":        {"", 1, "does not hold"},
		"a short one": {"horse", 2, "a secret of 5 bytes"},
	} {
		cmd := probeCommand("test", addr, "--bytes", "1MB", "--rtt-probes", "1")
		cmd.Env = append(cmd.Env, secretVariable+"="+c.env)
		if got := running(t, cmd); got.code != c.code || !strings.Contains(got.errOut, c.says) {
			t.Errorf("%s: %+v, want exit code %d and %q", name, got, c.code, c.says)
		}
	}
}

func TestByHandMisused(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, c := range map[string]struct {
		code int
		says string
	}{
		"test":                         {2, "want one address, got 0"},
		"test a b":                     {2, "got 2"},
		"test 127.0.0.1:0":             {2, `"127.0.0.1:0"`},
		"test 127.0.0.1:70000":         {2, `"127.0.0.1:70000"`},
		"test 192.0.2.1":               {2, "192.0.2.1 can be reached from elsewhere"},
		"test 127.0.0.1 --streams 129": {2, "streams 129"},
		"test 127.0.0.1 --duration 2h": {2, "duration_ms"},
		"test 127.0.0.1 --duration 0 --rtt-probes 0": {2, "neither bytes nor duration"},
		"test 127.0.0.1 --bytes many":                {2, `"many"`},
		"test 127.0.0.1 --rtt-probes -1":             {2, "probes -1"},
		"test 127.0.0.1 --rtt-interval 1ns":          {2, "interval_ms"},
		"test 127.0.0.1 --nonsense":                  {2, "--nonsense"},
		"test 127.0.0.1 --secret-file " + empty:      {1, "is empty"},
		"test 127.0.0.1:1":                           {1, "connection refused"},
		"test 127.0.0.1 --samples /nowhere/file":     {1, "/nowhere/file"},
		"test 127.0.0.1 --reverse --bidirectional":   {2, "one or the other"},
		"test 127.0.0.1 --dscp 64":                   {2, "dscp 64"},
		"test 127.0.0.1 --mss 40":                    {2, "mss_bytes 40"},
		"test 127.0.0.1 --udp --reverse":             {2, "--reverse is for TCP"},
		"serve more":                                 {2, `"more"`},
		"serve --listen 8462":                        {2, `--listen "8462"`},
		"serve --listen [::]:0":                      {2, ":: can be reached from elsewhere"},
		"serve --secret-file /nowhere":               {1, "/nowhere"},
		"agent more":                                 {2, `"more"`},
		"version more":                               {2, `"more"`},
	} {
		got := running(t, probeCommand(strings.Fields(args)...))
		if got.code != c.code || !strings.Contains(got.errOut, c.says) || got.out != "" {
			t.Errorf("%s: %+v, want exit code %d and %q", args, got, c.code, c.says)
		}
	}
	if got := running(t, probeCommand("test", "--help")); got.code != 0 || !strings.Contains(got.out, "usage: antipode-probe test ADDR") || got.errOut != "" {
		t.Errorf("--help: %+v", got)
	}
}
