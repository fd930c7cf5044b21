// Package trace is what a sender's kernel said in the course of a TCP
// throughput test, and what follows from it: which part of the test was steady,
// and what its rate is worth. It is pure: samples in, findings out, so that a
// recorded test can be judged again by other rules.
package trace
