// Package command runs a program of the user's own in a network namespace of a lab: on the host's files, in the
// caller's folder and terminal, but in a pid namespace of its own, so that nothing it starts outlives it, its
// caller or the lab. Package lab calls Start; cmd/antipode-machine is the first process of that pid
// namespace (Main). It must not know regions, worlds or control sockets.
package command
