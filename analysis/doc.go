// Package analysis turns rows into findings: how RTT and goodput go with
// distance, for all pairs and for each directed cloud pair, and which rows
// contradict physics. It is pure: no files, no clock, no drawing. Commands,
// charts and reports call it; it must not know how rows were measured.
package analysis
