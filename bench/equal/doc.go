// Command equal sweeps the same world on the lab again and again, with the ordinary command, and compares each
// sweep with the one before it: there is no change, so every change that is reported is a false one. It
// fails if a regression of 10 % or more is. `make bench-equal` is how it is called.
package main
