package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// TestExec runs programs in the regions of a planet that was measured: two find each
// other by name, at the distance that the file says, and none outlives its caller
// or the lab.
func TestExec(t *testing.T) {
	for name, u := range users(t) {
		t.Run(name, func(t *testing.T) {
			lab := fmt.Sprintf("exec-%d", time.Now().UnixNano()%1e9)
			measured := measuredRows()
			keepRows(t, filepath.Join(u.dir, "measured.csv"), measured)
			if err := os.Chmod(filepath.Join(u.dir, "measured.csv"), 0o644); err != nil {
				t.Fatal(err)
			}
			u.run(t, time.Minute, "lab", "exec", "aws:us-east-1", "--", "true").want(t, 2, "no lab is up")
			u.run(t, time.Minute, "lab", "up", lab, "--world", "measured.csv").want(t, 0, "as measured both ways")
			t.Cleanup(func() { u.run(t, time.Minute, "lab", "down", lab) })
			u.run(t, time.Minute, "lab", "regions", lab).want(t, 0, "aws-us-east-1.lab ")
			u.run(t, time.Minute, "lab", "exec", "--lab", lab, "aws:us-east-1", "--", "sh", "-c", "pwd; id -u; uname -n; exit 7").
				want(t, 7, u.dir+"\n", fmt.Sprintf("%d\naws-us-east-1\n", u.uid))
			u.run(t, time.Minute, "lab", "exec", "aws:nowhere", "--", "true").want(t, 2, "no region of this lab's world")

			u.holdProbes(t, rowOf(t, measured, "aws:us-east-1", "gcp:europe-west1"))
			u.holdEnds(t, lab)
		})
	}
}

// holdProbes holds the round trip between two regions, and the rate, against what
// was measured.
func (u user) holdProbes(t *testing.T, r results.Row) {
	t.Helper()
	probe := copyProbe(t, u)
	// A port of the system's: an ordinary user may have it there.
	server := u.start(t, "lab", "exec", r.ToCloud+":"+r.ToRegion, "--", probe, "serve", "--insecure", "--listen", "0.0.0.0:80")
	eventually(t, time.Minute, "server", func() bool { return strings.Contains(server.stdout.String(), "listening") })
	again(t, func(int) (wrong string) {
		o := u.run(t, time.Minute, "lab", "exec", r.FromCloud+":"+r.FromRegion, "--", probe, "test", r.ToCloud+"-"+r.ToRegion+".lab:80",
			"--insecure", "--json", "--stop", "duration", "--duration", "3s", "--rtt-probes", "50")
		o.want(t, 0)
		var got struct {
			RTTMs      float64 `json:"rtt_p50_ms"`
			ConnectMs  float64 `json:"tcp_connect_ms"`
			GoodputBps float64 `json:"goodput_bps"`
		}
		if err := json.Unmarshal([]byte(o.stdout), &got); err != nil {
			t.Fatalf("%v\n%s", err, o.stdout)
		}
		t.Logf("RTT %.3f ms, connect %.3f ms (measured %.3f), %.2f Mbit/s (measured %.2f)", got.RTTMs, got.ConnectMs, *r.RTTP50Ms,
			got.GoodputBps/1e6, *r.GoodputBps/1e6)
		for what, ms := range map[string]float64{"RTT": got.RTTMs, "connect": got.ConnectMs} {
			if math.Abs(ms-*r.RTTP50Ms) > max(1, *r.RTTP50Ms/100) {
				return fmt.Sprintf("%s of %.3f ms, the file says %.3f", what, ms, *r.RTTP50Ms)
			}
		}
		if math.Abs(got.GoodputBps / *r.GoodputBps - 1) > 0.1 {
			return fmt.Sprintf("%.2f Mbit/s, the file says %.2f", got.GoodputBps/1e6, *r.GoodputBps/1e6)
		}
		return ""
	})
	server.cmd.Process.Signal(syscall.SIGTERM)
	if o := server.wait(t, time.Minute); o.code != 0 && o.code != 128+int(syscall.SIGTERM) {
		t.Errorf("server, told to end: %d %s", o.code, o.stderr)
	}
}

// holdEnds ends a command in all ways that it can.
func (u user) holdEnds(t *testing.T, lab string) {
	t.Helper()
	// The command leaves one that is nobody's child beside it.
	start := func() (*started, []process) {
		s := u.start(t, "lab", "exec", "aws:us-east-1", "--", "sh", "-c",
			`trap 'exit 5' TERM; (setsid sleep 1000 &) ; echo up >&2; while :; do sleep 0.1; done`)
		s.waitFor(t, "up", time.Minute)
		var family []process
		eventually(t, time.Minute, "orphan", func() bool {
			family = s.descendants()
			return strings.Contains(fmt.Sprint(family), "sleep 1000")
		})
		return s, family
	}
	nobodyOf := func(family []process, after string) {
		t.Helper()
		eventually(t, 10*time.Second, "end of all processes after "+after, func() bool {
			now := processes()
			for _, p := range family {
				if q, there := now[p.pid]; there && q.born == p.born {
					return false
				}
			}
			return true
		})
	}
	s, family := start()
	s.cmd.Process.Signal(syscall.SIGTERM)
	if o := s.wait(t, time.Minute); o.code != 5 {
		t.Errorf("command that ends with 5 on SIGTERM: %d %s", o.code, o.stderr)
	}
	nobodyOf(family, "SIGTERM")
	s, family = start()
	kill(t, s.cmd.Process.Pid)
	nobodyOf(family, "kill -9")
	s, family = start()
	u.run(t, time.Minute, "lab", "down", lab).want(t, 0)
	if now := processes(); slices.ContainsFunc(family[1:], func(p process) bool { return now[p.pid].born == p.born }) {
		t.Error("lab down did not wait for the end of what ran there")
	}
	s.wait(t, time.Minute).want(t, 1, "the lab is gone")
	nobodyOf(family, "lab down")
}

func rowOf(t *testing.T, rows []results.Row, from, to string) results.Row {
	t.Helper()
	for _, r := range rows {
		if r.FromCloud+":"+r.FromRegion == from && r.ToCloud+":"+r.ToRegion == to {
			return r
		}
	}
	t.Fatalf("no row %s>%s", from, to)
	return results.Row{}
}

// copyProbe puts the probe where the user may run it.
func copyProbe(t *testing.T, u user) string {
	t.Helper()
	from, err := os.Open("../bin/antipode-probe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(u.dir, "antipode-probe")
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	return path
}
