// Package machine is the inside of a lab machine: the first process of its
// namespaces. It sets up mounts and the network, does what cloud-init or a
// guest agent would, serves SSH and ends when told or when the hypervisor is
// gone. The hypervisor starts it (package hypervisor) and talks to it over a
// Unix socket; it must not know clouds, worlds or routers.
package machine
