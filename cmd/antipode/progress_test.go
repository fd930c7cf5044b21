package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/results"
)

// TestLinesSpeak: round trips of hundreds of pairs are minutes without a row.
func TestLinesSpeak(t *testing.T) {
	var b strings.Builder
	began := time.Now()
	l := &lines{Writer: &b, began: began, last: began}
	for n := range 30 {
		l.event(orchestrator.Event{Kind: orchestrator.TestEnded, Time: began.Add(time.Duration(n+1) * time.Second), Progress: orchestrator.Progress{Running: 4}})
	}
	if got := strings.Count(b.String(), "\n"); got != 6 || !strings.Contains(b.String(), "5.0s  5 tests done, 4 running\n") {
		t.Errorf("%d lines in 30 s:\n%s", got, b.String())
	}
}

func TestDescribe(t *testing.T) {
	rtt, rate := 88.2, 1.25e9
	row := results.Row{Status: results.StatusOK, FromCloud: "aws", FromRegion: "north", ToCloud: "gcp", ToRegion: "south",
		RTTP50Ms: &rtt, GoodputBps: &rate}
	failed := row
	failed.Status, failed.Error, failed.RTTP50Ms, failed.GoodputBps = results.StatusFailed, "peer died", nil, nil
	progress := orchestrator.Progress{Pairs: 6, OK: 1, Failed: 1, Regions: 3, Ready: 2}
	tests := []struct {
		name  string
		event orchestrator.Event
		want  string
	}{
		{"launch", orchestrator.Event{Kind: orchestrator.PhaseChanged, Phase: orchestrator.PhaseLaunch}, "launching 3 machines"},
		{"measure", orchestrator.Event{Kind: orchestrator.PhaseChanged, Phase: orchestrator.PhaseMeasure}, "measuring 6 pairs"},
		{"teardown", orchestrator.Event{Kind: orchestrator.PhaseChanged, Phase: orchestrator.PhaseTeardown}, "tearing down"},
		{"done", orchestrator.Event{Kind: orchestrator.PhaseChanged, Phase: orchestrator.PhaseDone}, ""},
		{"booting", orchestrator.Event{Kind: orchestrator.RegionChanged, Region: "aws:north", State: orchestrator.StateBooting}, ""},
		{"ready", orchestrator.Event{Kind: orchestrator.RegionChanged, Region: "aws:north", State: orchestrator.StateReady}, "machine 2/3 ready: aws:north"},
		{"lost", orchestrator.Event{Kind: orchestrator.RegionChanged, Region: "aws:north", State: orchestrator.StateFailed, Err: errors.New("aws:north: no room")}, "machine failed: aws:north: no room"},
		{"skipped", orchestrator.Event{Kind: orchestrator.RegionChanged, Region: "aws:north", State: orchestrator.StateSkipped, Err: errors.New("aws:north: quota")}, "machine skipped: aws:north: quota"},
		{"test", orchestrator.Event{Kind: orchestrator.TestStarted}, ""},
		{"pair", orchestrator.Event{Kind: orchestrator.PairEnded, Row: &row}, "pair 2/6  aws:north > gcp:south  88.2 ms  1.25 Gbit/s"},
		{"failed pair", orchestrator.Event{Kind: orchestrator.PairEnded, Row: &failed}, "pair 2/6  aws:north > gcp:south  failed: peer died"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.event.Progress = progress
			if got := describe(tt.event); got != tt.want {
				t.Errorf("describe = %q, want %q", got, tt.want)
			}
		})
	}
}
