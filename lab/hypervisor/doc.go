// Package hypervisor runs the lab's machines: each a process tree in network,
// pid, mount, UTS and IPC namespaces of its own, with its addresses and a link
// to the router. The doors tell it what to run (package vm); what happens inside
// a machine is package machine's. It must not know clouds, and it runs in the
// lab's inner process only.
package hypervisor
