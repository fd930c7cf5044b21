// Package fault owns the ways in which the lab's doors misbehave on purpose:
// the faults as a file spells them, and the injector that deals them out. The
// doors ask it at every call and for every machine; it must not know how a
// cloud words its errors.
package fault
