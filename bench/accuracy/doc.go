// Command accuracy holds the probe against the lab: the same probe and the same
// kernel as in a sweep, on paths of which everything is known. `make accuracy`
// runs it. It needs Linux, and what a lab needs.
//
// # Paths
//
// The paths are in paths.csv, a line each, and were drawn by this command
// (-draw): two thirds by a seed that the probe's rules may be tuned on, one
// third by another ("unseen"), and token buckets apart. Round trips are drawn
// from 1 to 300 ms and rates from 10 Mbit/s to 1 Gbit/s, evenly on a logarithmic
// scale; what limits a path is drawn first, and the constraint made to bind.
//
// # What is measured
//
// A path has two machines of its own, and half of the paths are for cubic, half
// for BBR. First come the quiet tests, of eight paths in one lab: the round trip,
// which is a few packets a second, and UDP, of four at a time, over the path with
// reordering and duplicates added. Then, each in a lab of its own, and as many at
// a time as are expected to have -budget together: one long TCP test, one that
// ends when the probe thinks fit, both with its check of a second flow, and the
// path again with one constraint after the other eased. Who gains 10 % or more was
// held back by it: these are the path's true causes.
//
// The lab counts what it delivered too late. Where that is too much, or the whole
// computer stood still, a test is made again, up to three times in a run and with
// less beside it.
//
// # What it is held against
//
// The router's own counts: of TCP payload, each byte once, over the interval
// that the probe calls steady; of the segments of a UDP flow that were lost,
// overtaken or delivered twice. Rules that stop a test early are played on the
// router's record of the long test.
//
// What was measured stays in -results, a file per path. A run that was
// interrupted goes on from there, and measures again what failed or was late
// because the computer was too busy. -replay judges it without measuring.
package main
