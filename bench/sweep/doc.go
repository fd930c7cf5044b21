// Command sweep sweeps many regions on the lab, with real machines, real TCP and
// the ordinary command, and prints what came of it: rows, time, the makespan over
// the bound of the durations that the tests took, and the controller's memory. It
// fails if a limit is passed. `make bench-sweep` is how it is called.
package main
