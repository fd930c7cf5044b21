// Package prices knows what the clouds charge for machines, disks, addresses and
// the data that machines send, from a table with dates and sources that a file
// can override. Plans are priced with it before a run and what was moved after
// it. It adds nothing up and asks no cloud.
package prices
