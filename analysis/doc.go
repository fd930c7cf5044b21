// Package analysis turns rows into findings: how RTT and goodput go with
// distance, for all pairs and for each directed cloud pair, which rows
// contradict physics or what machines are sold with, which regions can't be
// where they are said to be, and how the sides of a comparison differ. It is
// pure: no files, no clock, no drawing, and random numbers only from a seed.
// Commands, charts and reports call it; it must not know how rows were measured.
package analysis
