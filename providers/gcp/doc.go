// Package gcp makes, admits, lists and destroys a run's machines on Compute
// Engine, through the ordinary SDK. It owns everything that is particular to
// GCP: what its errors and operations mean, labels and names, the network of a
// run, and how a machine's host key is learnt. It must not know who calls it,
// nor any other cloud, nor that the lab's doors exist: they are just an endpoint.
//
// A run has a network of its own, since many organisations have deleted the
// default one. It is in auto mode: one call makes a subnet in every region, and
// one removes them all. (The price is 43 of the project's subnets per run.)
//
//	network         antipode-RUN           all regions
//	firewall rule   antipode-RUN-ssh       SSH, from the controller only
//	firewall rules  antipode-RUN-REGION-N  the probe's port, 250 peers each
//	instance, disk  antipode-RUN-REGION
//
// Instances and disks carry the labels antipode-run and antipode-expires (Unix
// seconds). Networks and rules cannot have labels: their description says the
// same.
package gcp
