// Package router is the lab's internet: a userspace router that carries IP
// packets between machines over package link, the way package world says. It
// delays and loses them, holds every machine and every flow to its rate, lets
// in only what a machine's rules allow, and counts what it delivered and what
// it dropped.
//
// Whoever runs machines attaches their links and sets their rules. The router
// knows no processes, no clouds and no namespaces.
//
// One goroutine, on a thread of its own, does all the carrying: it waits for
// links and for the next packet that is due, and holds the router's only lock
// while it works. The way of a packet is a few sums at the moment it is read
// (out of the machine, through the flow's cap, along the path), one entry in a
// schedule, and a second one only if the receiving machine's link is busy.
// Works on Linux only.
package router
