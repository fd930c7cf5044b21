package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestHeed(t *testing.T) {
	type sent struct {
		after time.Duration // the signal before
		what  os.Signal
	}
	hup, term := os.Signal(syscall.SIGHUP), os.Signal(syscall.SIGTERM)
	tests := []struct {
		name            string
		signals         []sent
		cancels, leaves bool
	}{
		{"none", nil, false, false},
		{"Ctrl-C", []sent{{0, os.Interrupt}}, true, false},
		{"Ctrl-C twice", []sent{{0, os.Interrupt}, {2 * time.Second, os.Interrupt}}, true, true},
		{"terminated", []sent{{0, term}}, true, false},
		{"terminated by timeout(1)", []sent{{0, term}, {time.Millisecond, term}}, true, false},
		{"terminated by timeout(1), then Ctrl-C", []sent{{0, term}, {time.Millisecond, term}, {time.Second, os.Interrupt}}, true, true},
		{"terminal closed", []sent{{0, hup}}, true, false},
		{"Ctrl-C, then the terminal closed", []sent{{0, os.Interrupt}, {2 * time.Second, hup}, {0, hup}}, true, false},
		{"terminal closed, then terminated", []sent{{0, hup}, {2 * time.Second, term}}, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				signals := make(chan os.Signal, len(tt.signals))
				go func() {
					defer close(signals)
					for _, s := range tt.signals {
						time.Sleep(s.after)
						signals <- s.what
					}
				}()
				var said strings.Builder
				if got := heed(signals, cancel, &said, "run the clean-up"); got != tt.leaves {
					t.Errorf("leaves = %t, want %t", got, tt.leaves)
				}
				if got := errors.Is(context.Cause(ctx), errInterrupted); got != tt.cancels {
					t.Errorf("cancelled = %t, want %t", got, tt.cancels)
				}
				if got := strings.Contains(said.String(), "run the clean-up"); got != tt.leaves {
					t.Errorf("says what to do: %t, want %t:\n%s", got, tt.leaves, &said)
				}
			})
		})
	}
}

func TestUnlessInterrupted(t *testing.T) {
	broken := errors.New("broken")
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := unlessInterrupted(ctx, broken); err != broken {
		t.Errorf("before: %v, want the error itself", err)
	}
	cancel(errInterrupted)
	if err := unlessInterrupted(ctx, nil); err != nil {
		t.Errorf("without an error: %v", err)
	}
	if code := exitCode(unlessInterrupted(ctx, broken)); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
}

// A sweep whose output nobody reads any more goes on: it has a teardown to do.
func TestOutlivesReader(t *testing.T) {
	const child = "ANTIPODE_TEST_OUTLIVES_READER"
	if os.Getenv(child) != "" {
		_, stop := interruptible(context.Background(), newProgress(os.Stderr), "r1")
		os.Stderr.WriteString("tearing down\n")
		stop(nil)
		os.Stderr.WriteString("torn down\n")
		os.Exit(exitPairs)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	cmd.Stderr = w
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != exitPairs {
		t.Errorf("ended by %v, want exit code %d", err, exitPairs)
	}
}
