// Package link is the wire between the router and one machine: a TUN device
// whose descriptor the router holds, or, where /dev/net/tun is closed to the
// user, a packet socket on the router's end of a veth pair. Both carry
// super-packets of up to 64 KB behind a virtio-net header. It works on Linux
// only, knows nothing of routing, and is small enough for a machine's binary.
package link
