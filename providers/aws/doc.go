// Package aws makes, admits, lists and destroys a run's machines on EC2,
// through the ordinary SDK. It owns everything that is particular to AWS: what
// its errors mean, its tags and tokens, its limits on security groups, and the
// cloud-init document a machine boots with. It must not know who calls it, nor
// any other cloud, nor that the lab's doors exist: they are just an endpoint.
//
// A machine lives in the region's default VPC, or in one that is chosen, or where
// the default one was deleted in one of the run's own: with a gateway, a route
// table that leads there, and a subnet in each zone that was tried. It is named by
// its run:
//
//	key pair         antipode-RUN
//	security group   antipode-RUN          SSH, from the controller only
//	security groups  antipode-RUN-peers-N  the probe's port, 30 peers each
//	instance, disk   antipode-RUN
//
// The machine is in all five groups from the start, empty as most of them are:
// that is the most an interface takes, and later it is rules only that change.
//
// All carry the tags antipode-run and antipode-expires (RFC 3339).
package aws
