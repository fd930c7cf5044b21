//go:build linux

package remote

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// kernel is a folder of settings as the kernel has them.
func kernel(t *testing.T, settings map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, value := range settings {
		file := filepath.Join(dir, strings.ReplaceAll(name, ".", "/"))
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(value+"\n"), 0o644))
	}
	return dir
}

func setting(t *testing.T, sys, name string) string {
	t.Helper()
	value, err := os.ReadFile(filepath.Join(sys, strings.ReplaceAll(name, ".", "/")))
	must(t, err)
	return strings.TrimSpace(string(value))
}

const reno = "net.ipv4.tcp_allowed_congestion_control"

func usual() map[string]string {
	return map[string]string{
		"net.core.rmem_max": "212992", "net.core.wmem_max": "268435456", "net.core.default_qdisc": "fq",
		"net.ipv4.tcp_rmem": "4096\t131072\t6291456", "net.ipv4.tcp_wmem": "4096\t16384\t4194304",
		"net.ipv4.tcp_available_congestion_control": "reno cubic bbr", reno: "reno cubic",
	}
}

// programs are scripts that are found before others of their name.
func programs(t *testing.T, scripts map[string]string) (path string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	return dir + ":" + os.Getenv("PATH")
}

// asRoot has the shell take whoever runs it for root, since the folders are his.
var asRoot = map[string]string{"id": "echo 0"}

// TestTune raises what is low, says so, and puts it back.
func TestTune(t *testing.T) {
	t.Parallel()
	sys, state := kernel(t, usual()), t.TempDir()
	c := startServer(t, shell(t.TempDir(), programs(t, asRoot))).connect(t, Options{})
	got, err := c.tune(timeout(t, limit), Tuning{"r1", "bbr"}, sys, state)
	must(t, err)
	want := []Setting{
		{"net.core.rmem_max", "212992", "134217728", ""},
		{"net.core.wmem_max", "268435456", "268435456", ""},
		{"net.ipv4.tcp_rmem", "4096 131072 6291456", "4096 131072 134217728", ""},
		{"net.ipv4.tcp_wmem", "4096 16384 4194304", "4096 16384 134217728", ""},
		{"net.core.default_qdisc", "fq", "fq", ""},
		{reno, "reno cubic", "reno cubic bbr", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	for _, s := range want {
		if now := strings.Join(strings.Fields(setting(t, sys, s.Name)), " "); now != s.After {
			t.Errorf("%s is %q, want %q", s.Name, now, s.After)
		}
	}
	must(t, os.WriteFile(filepath.Join(sys, "net/core/rmem_max"), []byte("77\n"), 0o644)) // by somebody else
	must(t, c.Close())
	for _, s := range want[1:] {
		if now := strings.Join(strings.Fields(setting(t, sys, s.Name)), " "); now != s.Before {
			t.Errorf("%s is %q afterwards, want %q", s.Name, now, s.Before)
		}
	}
	if now := setting(t, sys, "net.core.rmem_max"); now != "77" {
		t.Errorf("what somebody else set is %q, want 77", now)
	}
	wantEmpty(t, state)
}

// TestTuneWhatThereIs: a network namespace lacks some settings, and others
// can't be written.
func TestTuneWhatThereIs(t *testing.T) {
	t.Parallel()
	sys, state := kernel(t, map[string]string{"net.ipv4.tcp_wmem": "4096 16384 4194304",
		"net.ipv4.tcp_available_congestion_control": "reno", reno: "reno"}), t.TempDir()
	must(t, os.MkdirAll(filepath.Join(sys, "net/core/wmem_max"), 0o755))
	must(t, os.Mkdir(filepath.Join(sys, "net/core/default_qdisc"), 0o755))
	c := startServer(t, shell(t.TempDir(), programs(t, map[string]string{"id": "echo 0", "modprobe": "exit 1"}))).connect(t, Options{})
	got, err := c.tune(timeout(t, limit), Tuning{"r1", "bbr"}, sys, state)
	must(t, err)
	want := []Setting{
		{"net.core.rmem_max", "", "", "not there"},
		{"net.core.wmem_max", "", "", "not understood"},
		{"net.ipv4.tcp_rmem", "", "", "not there"},
		{"net.ipv4.tcp_wmem", "4096 16384 4194304", "4096 16384 134217728", ""},
		{"net.core.default_qdisc", "", "", "may not be written"},
		{"module.tcp_bbr", "", "", "could not be loaded"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	must(t, c.Close())
}

// TestTuneAgain: a new connection of the run takes over from one that is lost and
// does not know it yet; another run does not.
func TestTuneAgain(t *testing.T) {
	t.Parallel()
	sys, state := kernel(t, usual()), t.TempDir()
	s := startServer(t, shell(t.TempDir(), programs(t, asRoot)))
	ctx := timeout(t, limit)
	first, second := s.connect(t, Options{}), s.connect(t, Options{})
	_, err := first.tune(ctx, Tuning{"r1", ""}, sys, state)
	must(t, err)
	_, err = second.tune(ctx, Tuning{"r2", ""}, sys, state)
	wantError(t, err, "r1 has tuned the machine")
	got, err := second.tune(ctx, Tuning{"r1", ""}, sys, state)
	must(t, err)
	if want := (Setting{"net.core.rmem_max", "212992", "134217728", ""}); got[0] != want {
		t.Errorf("the second has %+v, want %+v: as it was at first", got[0], want)
	}
	first.Close() // its script has ended before
	if now := setting(t, sys, "net.core.rmem_max"); now != "134217728" {
		t.Errorf("rmem_max is %s when the first connection ends", now)
	}
	must(t, second.Close())
	if now := setting(t, sys, "net.core.rmem_max"); now != "212992" {
		t.Errorf("rmem_max is %s afterwards", now)
	}
	wantEmpty(t, state)
}

// TestTuneAfterKill puts back what a killed script left.
func TestTuneAfterKill(t *testing.T) {
	t.Parallel()
	settings := usual()
	settings["net.core.rmem_max"] = "134217728"
	sys, state := kernel(t, settings), t.TempDir()
	space, err := os.Readlink("/proc/self/ns/net") // net:[4026531840]
	must(t, err)
	left := filepath.Join(state, "antipode-tune-"+strings.Trim(space, "net:[]"))
	must(t, os.Mkdir(left, 0o755))
	must(t, os.WriteFile(filepath.Join(left, "before"), []byte("net.core.rmem_max|212992|134217728\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(left, "owner"), []byte("r0 1 42\n"), 0o644)) // another process has its number
	c := startServer(t, shell(t.TempDir(), programs(t, asRoot))).connect(t, Options{})
	got, err := c.tune(timeout(t, limit), Tuning{"r1", ""}, sys, state)
	must(t, err)
	if want := (Setting{"net.core.rmem_max", "212992", "134217728", ""}); got[0] != want {
		t.Errorf("%+v, want %+v", got[0], want)
	}
	must(t, c.Close())
	wantEmpty(t, state)
}

// TestTuneInSilence: a controller that says nothing any more is gone.
func TestTuneInSilence(t *testing.T) {
	t.Parallel()
	sys, state := kernel(t, usual()), t.TempDir()
	c := startServer(t, shell(t.TempDir(), programs(t, asRoot))).connect(t, Options{Linger: time.Second, AliveInterval: time.Hour})
	_, err := c.tune(timeout(t, limit), Tuning{"r1", ""}, sys, state)
	must(t, err)
	for left := limit; setting(t, sys, "net.core.rmem_max") != "212992"; left -= 10 * time.Millisecond {
		if left < 0 {
			t.Fatal("the settings are not put back")
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.Close()
}

// TestTuneNeedsRoot: sudo is asked without a password, and its answer told.
func TestTuneNeedsRoot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sudo, wrong string }{
		"allowed":  {`[ "$1" = -n ] && shift && exec "$@"`, ""},
		"password": {"echo sudo: a password is required >&2; exit 1", "a password is required"},
	} {
		t.Run(name, func(t *testing.T) {
			path := programs(t, map[string]string{"id": "echo 1000", "sudo": c.sudo})
			conn := startServer(t, shell(t.TempDir(), path)).connect(t, Options{})
			_, err := conn.tune(timeout(t, limit), Tuning{"r1", ""}, kernel(t, usual()), t.TempDir())
			if c.wrong == "" {
				must(t, err)
				return
			}
			wantError(t, err, c.wrong)
		})
	}
}
