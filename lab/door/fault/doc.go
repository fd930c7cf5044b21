// Package fault owns the ways in which the lab's doors misbehave on purpose, and
// what the account behind them may not do: the faults as a file spells them,
// and the injector that deals them out. The
// doors ask it at every call and for every machine; it must not know how a
// cloud words its errors.
//
// A file of faults, in which every field but kind may be left out:
//
//	calls:
//	  - {cloud: aws, region: eu-west-1, call: RunInstances, kind: capacity, count: 1}
//	  - {cloud: gcp, zone: us-east1-b, call: instances.insert, kind: silent}
//	machines:
//	  - {region: eu-west-3, never_boot: true}
//	  - {cloud: gcp, boot_delay_s: 20, count: 2}
//	opted_out: [af-south-1]
//	quotas:
//	  - {cloud: aws, region: eu-west-1, quota: L-1216C47A, limit: 1}
//	project: {metadata: {enable-oslogin: "TRUE"}, policies: [compute.requireOsLogin]}
package fault
