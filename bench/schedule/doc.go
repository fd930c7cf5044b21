// Command schedule runs the sweep's schedule on a virtual clock, with lengths of
// tests that it does not know beforehand, and prints how far it is from the
// bound that no schedule can beat, beside a simple queue's. `make bench-schedule`
// is how it is called; it fails if a limit is passed or two tests got in each
// other's way.
package main
