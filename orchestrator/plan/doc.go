// Package plan decides what a run measures and in which order: pure functions
// from regions and wishes to pairs, and a schedule that is a state machine.
// The command line selects with it, the orchestrator steps through it. It must
// not know clocks, files, clouds or goroutines.
package plan
