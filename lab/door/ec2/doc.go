// Package ec2 is the lab's AWS door: the calls of EC2, SSM, STS and Service
// Quotas that a sweep makes, for all regions on one port, told apart by the credential scope of the
// request's signature. State is real and per region; what AWS does late, this
// door does late. Package door opens it; the ordinary SDK talks to it. It must
// not know the other cloud.
package ec2
