// Package lab owns the life of a lab, a planet in a box: it starts one, enters
// it, asks it things and ends it. A lab is one process, the inner, in new
// namespaces; it hosts the router, the machines and the clouds' API doors. The
// controller stays outside and reaches everything through connections that the
// inner opens in there and hands out over a Unix socket.
//
// Only cmd and tests call it. It must not know what runs against a lab.
//
// Nothing outlives a lab. The inner is the first process of a pid namespace, so
// its death is everybody's; it is killed when the process that started it dies
// (PDEATHSIG), and ends itself when the pipe from there closes. Its mounts are
// its own and the host's file systems are read-only to it.
package lab
