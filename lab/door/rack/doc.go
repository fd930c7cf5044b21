// Package rack is the part of a door that deals with the hypervisor: it starts
// machines in the background, keeps what may reach them up to date, hands
// events to the door that owns the machine, and ends them. It also owns the
// lab's sense of time: how slow a cloud is. Both doors use one rack; it must not
// know which cloud it serves.
package rack
