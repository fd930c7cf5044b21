// Package remote is the controller's way to a machine: SSH with a key pair of
// the run and a host key known beforehand, one connection kept for the whole
// run, the probe pushed through it and checked, and the agent's control channel
// on top. The orchestrator calls it. It runs wherever the controller does and
// must not know clouds, the lab or the user's own SSH set-up: no known_hosts,
// no ssh-agent, no prompts.
package remote
