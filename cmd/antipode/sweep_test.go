package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/providers"
)

// Where several codes apply, teardown wins, then the interruption, then
// whatever stopped the run, then failed pairs.
func TestVerdict(t *testing.T) {
	var (
		disk   = errors.New("no space left on device")
		failed = orchestrator.Progress{Pairs: 6, OK: 4, Failed: 2}
		left   = []providers.Resource{{Kind: providers.Instance, ID: "i-1"}}
	)
	tests := []struct {
		name    string
		summary orchestrator.Summary
		err     error
		code    int
		says    string
	}{
		{"all ok", orchestrator.Summary{}, nil, exitOK, ""},
		{"skipped pairs", orchestrator.Summary{Progress: orchestrator.Progress{Pairs: 6, OK: 4, Skipped: 2}}, nil, exitOK, ""},
		{"failed pairs", orchestrator.Summary{Progress: failed}, nil, exitPairs, "2 of 6 pairs failed"},
		{"never reached", orchestrator.Summary{Progress: orchestrator.Progress{Pairs: 6, OK: 4, Skipped: 2}, Lost: []orchestrator.Lost{{Region: "aws:a", Skipped: true, Unreached: true}}},
			nil, exitPairs, "1 region never reached"},
		{"stopped", orchestrator.Summary{Progress: failed}, disk, exitFailed, "no space"},
		{"expired", orchestrator.Summary{Expired: true}, errors.New("the run expired"), exitFailed, "expired"},
		{"over budget", orchestrator.Summary{OverBudget: true}, &orchestrator.BudgetError{BudgetUSD: 2, UsedUSD: 1.9}, exitRefused, "the budget of 2.00 USD has no room for more: 1.90 USD are used"},
		{"interrupted", orchestrator.Summary{Progress: failed, Interrupted: true}, disk, exitInterrupted, "interrupted"},
		{"something left", orchestrator.Summary{RunID: "r1", Left: left, Interrupted: true, Progress: failed}, disk, exitTeardown, "run r1 is incomplete; run the clean-up"},
		{"left unknown", orchestrator.Summary{Teardown: errors.New("zone is down")}, nil, exitTeardown, "zone is down"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := verdict(tt.summary, "run the clean-up", tt.err)
			if code := exitCode(err); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if tt.says != "" && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%q does not say %q", err, tt.says)
			}
		})
	}
}
