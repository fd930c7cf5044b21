// Package orchestrator does what a plan says: it launches a machine in every
// region, reaches and admits them, measures every pair, tears everything down
// whatever happened, and lists what is left. Every step is in the run's
// journal, every row in results.csv as soon as it is known. The command line
// calls it. It must not know which clouds exist, nor flags and terminals.
//
// One goroutine, the measurement's loop, owns the schedule and the rows. Each
// machine has a goroutine of its own for its whole life, and each running test
// has one; both report to the loop over one channel.
package orchestrator
