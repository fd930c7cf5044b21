// Package world says who is where in the lab's internet, and how long, how fast
// and how lossy the way is between any two places. A world is a strict YAML file
// in the run's folder, so that a run can be judged against it afterwards: Truth
// is what a perfect measurement in it would say. The package knows no packets
// and no machines; the router asks it, and so does whoever prints the truth.
package world
