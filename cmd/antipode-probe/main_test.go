//go:build linux

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

const runEnv = "ANTIPODE_TEST_PROBE"

// TestMain makes the test binary be the probe when a test asks for it.
func TestMain(m *testing.M) {
	if os.Getenv(runEnv) != "" {
		os.Exit(run(os.Args[1:], os.Stderr))
	}
	os.Exit(m.Run())
}

func probeCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), runEnv+"=1")
	return cmd
}

func TestVersion(t *testing.T) {
	out, err := probeCommand("version").Output()
	if err != nil || string(out) != version+"\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"nonsense"}} {
		var errOut bytes.Buffer
		if code := run(args, &errOut); code != 2 || !strings.Contains(errOut.String(), "usage:") {
			t.Errorf("%v: exit code %d, %q", args, code, errOut.String())
		}
	}
}

func TestAgentEndsWithInput(t *testing.T) {
	cmd := probeCommand("agent")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	in := wire.NewReader(stdout)
	var hello wire.Hello
	if err := in.Read(&hello); err != nil || hello.Build != version {
		t.Errorf("hello %+v, %v", hello, err)
	}
	stdin.Close()
	if rest, err := io.ReadAll(stdout); err != nil || len(rest) > 0 {
		t.Errorf("after the end it says %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestAgentEndsInSilence: its input stays open, and nothing comes.
func TestAgentEndsInSilence(t *testing.T) {
	cmd := probeCommand("agent", "--linger", "50ms")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var said bytes.Buffer
	cmd.Stderr = &said
	began := time.Now()
	if err := cmd.Run(); err == nil || !strings.Contains(said.String(), "nothing was heard") {
		t.Errorf("it ends with %v and says %q", err, said.String())
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestWatchParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		parent := func() int {
			if time.Since(began) > 10*time.Second {
				return 1 // the reaper's
			}
			return 42
		}
		var orphaned error
		watchParent(t.Context(), 42, parent, func(err error) { orphaned = err })
		if took := time.Since(began); orphaned == nil || took > 10*time.Second+2*orphanCheck {
			t.Errorf("noticed %v after %v", orphaned, took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		watchParent(ctx, 1, parent, func(error) { t.Error("called after the end") })
	})
}
