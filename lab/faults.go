package lab

// Faults is everything that goes wrong in a lab.
type Faults struct{}
