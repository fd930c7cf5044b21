// Package allowance knows the network bandwidth of the clouds' machine types that
// have more of it for a while than in the long run.
package allowance
