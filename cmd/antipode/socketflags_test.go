package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/probe/wire"
)

// parsed are the flags of a sweep's command line.
func parsed(t *testing.T, args ...string) *sweepFlags {
	t.Helper()
	f := defaultSweepFlags()
	cmd := newSweep()
	cmd.ResetFlags()
	f.register(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	f.settle(cmd.Flags())
	return f
}

func TestSocketFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args  string
		want  wire.TCPOptions
		wrong string
	}{
		"none": {"", wire.TCPOptions{}, ""},
		"all": {"--send-buffer 1MiB --receive-window 64KiB --mss 1000 --no-delay --dscp 46 --pacing 50M --rate 40M --client-port 40000",
			wire.TCPOptions{SendBufferBytes: 1 << 20, ReceiveWindowBytes: 64 << 10, MSSBytes: 1000, NoDelay: true, DSCP: 46, PacingBps: 50e6, RateBps: 40e6, ClientPort: 40000}, ""},
		"small buffer":     {"--send-buffer 1kB", wire.TCPOptions{}, "--send-buffer 1000: not 2KiB to 1GiB"},
		"large window":     {"--receive-window 2GiB", wire.TCPOptions{}, "--receive-window 2147483648: not 2KiB to 1GiB"},
		"small segment":    {"--mss 87", wire.TCPOptions{}, "--mss 87: not 88 to 32767"},
		"large DSCP":       {"--dscp 64", wire.TCPOptions{}, "--dscp 64: not 0 to 63"},
		"slow pacing":      {"--pacing 9", wire.TCPOptions{}, "--pacing 9: not 1k to 10T"},
		"slow rate":        {"--rate 9", wire.TCPOptions{}, "--rate 9: not 1k to 10T"},
		"low port":         {"--probe-port 80", wire.TCPOptions{}, "--probe-port 80: not 1024 to 65535"},
		"low client port":  {"--client-port 80", wire.TCPOptions{}, "--client-port 80: not 1024 to 65535"},
		"last client port": {"--client-port 65533 --streams 4", wire.TCPOptions{}, "--client-port 65533: not 1024 to 65532, for 4 streams"},
		"the probe's port": {"--client-port 8460 --streams 4", wire.TCPOptions{}, "need port 8462 too"},
		"unequal lengths":  {"--bidirectional --stop adaptive", wire.TCPOptions{}, "--bidirectional: both"},
		"flows of many":    {"--flow-check --streams 2", wire.TCPOptions{}, "leave out --streams 2"},
		"flows of bytes":   {"--flow-check --stop bytes --bytes 1MB", wire.TCPOptions{}, "--flow-check: sends more than --bytes"},
		"flows both ways":  {"--flow-check --bidirectional", wire.TCPOptions{}, "leave out --bidirectional"},
		"no isolation":     {"--isolation half", wire.TCPOptions{}, "--isolation half: not duplex, host or none"},
		"two isolations":   {"--isolation host --bidirectional --stop duration", wire.TCPOptions{}, "--isolation host: with --bidirectional"},
		"all at once":      {"--isolation none", wire.TCPOptions{}, "--isolation none: a machine can be tested with 32 others at once, not with 76; choose fewer regions"},
		"unequal bytes":    {"--bidirectional --bytes 1MB", wire.TCPOptions{}, "--bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			f := parsed(t, strings.Fields(c.args)...)
			_, _, err := f.selection(antipode.Regions())
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) || exitCode(err) != exitUsage {
					t.Errorf("check = %v, want %q", err, c.wrong)
				}
				return
			}
			got := f.test().Options
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if err := got.Validate(f.streams); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBidirectionalFlag: such tests end by time, and a pair comes with its other direction.
func TestBidirectionalFlag(t *testing.T) {
	f := parsed(t, "--bidirectional", "--pairs", "aws:us-east-1>gcp:us-east4,gcp:us-east4>aws:us-east-1")
	if _, pairs, err := f.selection(antipode.Regions()); err != nil || len(pairs) != 2 {
		t.Errorf("%d pairs, %v", len(pairs), err)
	}
	if test := f.test(); test.ErrorRatio != 0 || test.Duration == 0 || f.sockets.isolation() != plan.Together {
		t.Errorf("%+v, %v", test, f.sockets.isolation())
	}
	alone := parsed(t, "--bidirectional", "--pairs", "aws:us-east-1>gcp:us-east4")
	_, _, err := alone.selection(antipode.Regions())
	if want := "aws:us-east-1>gcp:us-east4 is chosen without gcp:us-east4>aws:us-east-1"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("selection = %v, want %q", err, want)
	}
}
