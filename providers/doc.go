// Package providers owns the contract between a run and a cloud: what a
// machine is, what may go wrong and what to do about it, and the patience every
// cloud's calls are made with (Call, Poll, Drain). The orchestrator calls it;
// aws and gcp fulfil it, and hosts for machines that are already there. It must
// not know who calls, nor which clouds exist.
package providers
