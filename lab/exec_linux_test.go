package lab

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/lab/world"
)

func TestPlaces(t *testing.T) {
	p := &places{regions: []world.Region{{ID: "aws:us-east-1", IPv6: true}, {ID: "own:here"}}}
	want := []Place{
		{Region: "aws:us-east-1", Name: "aws-us-east-1", Address: netip.MustParseAddr("198.18.1.1"), IPv6: netip.MustParseAddr("2001:2::c612:101")},
		{Region: "own:here", Name: "own-here", Address: netip.MustParseAddr("198.18.1.2")},
	}
	got := p.list()
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if got, want := hostsFile(got), "198.18.1.1 aws-us-east-1.lab aws-us-east-1\n198.18.1.2 own-here.lab own-here\n"; got != want {
		t.Errorf("hosts file %q, want %q", got, want)
	}
}

// TestExec runs commands on both kinds of link, for their exit codes and what they
// find.
func TestExec(t *testing.T) {
	for _, link := range []string{LinkAuto, LinkVeth} {
		t.Run("link "+link, func(t *testing.T) {
			l := machineLab(t, link)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			found := filepath.Join(t.TempDir(), "found")
			t.Setenv("FOUND", found)
			for _, c := range []struct {
				name string
				args []string
				want int
			}{
				{"ends well", []string{"true"}, 0},
				{"has a code", []string{"sh", "-c", "exit 7"}, 7},
				{"is killed", []string{"sh", "-c", "kill -KILL $$"}, 137},
				{"is not found", []string{"no-such-program"}, 127},
				{"can't be executed", []string{"/"}, 126},
				{"leaves an orphan", []string{"sh", "-c", "sleep 1000 &"}, 0},
				{"looks around", []string{"sh", "-c", `{ id -u; uname -n; grep -h . /etc/hosts; pwd; } > "$FOUND"`}, 0},
			} {
				if got, err := l.Exec(ctx, "aws:us-east-1", c.args, false); err != nil || got != c.want {
					t.Errorf("%s: %d, %v; want %d", c.name, got, err, c.want)
				}
			}
			data, err := os.ReadFile(found)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(data), "\n")
			here, _ := os.Getwd()
			for _, want := range []string{strconv.Itoa(os.Getuid()), "aws-us-east-1", "198.18.1.1 aws-eu-west-1.lab aws-eu-west-1", here} {
				if !slices.Contains(lines, want) {
					t.Errorf("the command did not find %q but\n%s", want, data)
				}
			}
			if _, err := l.Exec(ctx, "aws:nowhere", []string{"true"}, false); err == nil || !strings.Contains(err.Error(), "not in the lab's world") {
				t.Errorf("in an unknown region: %v", err)
			}
		})
	}
}

// TestExecEndsWithLab: when a lab ends, what runs in it does.
func TestExecEndsWithLab(t *testing.T) {
	l := machineLab(t, LinkAuto)
	up := filepath.Join(t.TempDir(), "up")
	t.Setenv("UP", up)
	ended := make(chan int, 1)
	go func() {
		code, _ := l.Exec(context.Background(), "aws:us-east-1", []string{"sh", "-c", `echo > "$UP"; sleep 1000`}, false)
		ended <- code
	}()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(up); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command did not come to run")
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case code := <-ended:
		if code != 1 {
			t.Errorf("exit code %d, want 1", code)
		}
	case <-time.After(patience):
		t.Error("the command outlived the lab")
	}
}
