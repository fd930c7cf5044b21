// Package cleanup finds what runs have left in the clouds and removes it, from
// anywhere: it reads no file of any run, only what the clouds say. The command
// line calls it. It must not know which clouds exist, nor flags and terminals.
//
// What it does not see it does not call clean: a place that could not be looked
// into is Unknown, and stays so until a list of it succeeds.
package cleanup
