package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/results"
)

// TestBars: nothing that is said is lost, neither at the end nor after it, and a
// lost machine is bad news once, not for each of its pairs.
func TestBars(t *testing.T) {
	var out bytes.Buffer
	b := newBars(&out)
	failed := func(from, to string) orchestrator.Event {
		return orchestrator.Event{Kind: orchestrator.PairEnded, Row: &results.Row{Status: results.StatusFailed, Error: "its end",
			FromCloud: "aws", FromRegion: from, ToCloud: "gcp", ToRegion: to}}
	}
	b.event(orchestrator.Event{Kind: orchestrator.RegionChanged, Region: "aws:north", State: orchestrator.StateFailed, Err: errors.New("no room")})
	b.event(failed("north", "east"))
	b.event(failed("south", "west"))
	fmt.Fprintln(b, "last words")
	b.close()
	fmt.Fprintln(b, "and after")
	b.close()
	var kept []string
	for line := range strings.Lines(out.String()) {
		for _, word := range []string{"no room", "north > gcp:east  failed: its", "south > ", "last words", "and after"} {
			if strings.Contains(line, word) && !strings.Contains(line, "\x1b") {
				kept = append(kept, word)
			}
		}
	}
	if diff := cmp.Diff([]string{"no room", "south > ", "last words", "and after"}, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s\nin %q", diff, &out)
	}
}
