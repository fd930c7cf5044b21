// Package gcp makes, admits, lists and destroys a run's machines on Compute
// Engine, through the ordinary SDK. It owns everything that is particular to
// GCP: what its errors and operations mean, labels and names, the network of a
// run, and how a machine's host key is learnt. It must not know who calls it,
// nor any other cloud, nor that the lab's doors exist: they are just an endpoint.
//
// A run has a network of its own, since many organisations have deleted the
// default one, and in it a subnet in each of its regions and no other: the
// subnets that an auto mode network has everywhere count against the project's
// quota, and take a minute to make.
//
//	network         antipode-RUN           all regions
//	subnet          antipode-RUN           one region's
//	firewall rule   antipode-RUN-ssh       SSH, from the controller only
//	firewall rules  antipode-RUN-REGION-N  the probe's port, 250 peers each
//	instance, disk  antipode-RUN-REGION
//
// Instances and disks carry the labels antipode-run and antipode-expires (Unix
// seconds). Networks, subnets and rules cannot have labels: their description
// says the same.
package gcp
