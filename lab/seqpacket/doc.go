// Package seqpacket speaks JSON over SOCK_SEQPACKET Unix sockets: one value is
// one packet, and open files ride along. The lab's control sockets, to the
// controller and to the machines, are such sockets. It must not know what is said.
package seqpacket
