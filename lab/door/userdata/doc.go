// Package userdata reads what a machine is told to do at boot, as far as the
// lab's machines can do it: cloud-init's #cloud-config, and scripts. The doors
// call it when a machine is launched and hand the outcome to the hypervisor; it
// must not know either.
package userdata
