//go:build linux

// Command probe compares antipode-probe with the tools people measure with
// today: iperf3 for throughput over TCP and UDP, ping, irtt and sockperf for
// round trips. All run between two network namespaces of its own, joined by a
// veth pair with an MTU of 1500, in turn and several times, so that what else
// the computer does falls on all alike. It prints medians, ranges and ratios;
// quote the ratios.
//
// TCP is compared under each congestion control by itself, the same for all
// tools: BBR's pacing, a timer for each train of segments, costs more than all
// else on a path without delay, and levels tools that differ under cubic.
//
// It needs Linux, root or unprivileged user namespaces, and the peers that it
// is to compare with on the path; those that are missing are named.
package main
