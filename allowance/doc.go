// Package allowance knows how much network bandwidth the clouds' machine types
// have: for a while, in the long run, and at most.
package allowance
