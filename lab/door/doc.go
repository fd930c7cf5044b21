// Package door opens the lab's doors: HTTP handlers that the ordinary SDKs of
// AWS and Google Cloud talk to as if they were the clouds, and one that tells
// callers their address. What the clouds keep, the doors keep (ec2, gce);
// machines are started and stopped through a vm.Hypervisor (rack); what shall
// go wrong does (fault). The lab's inner process opens the doors; they must not
// know processes, packets or the world's geography.
package door
