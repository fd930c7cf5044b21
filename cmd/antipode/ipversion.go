package main

import (
	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/providers"
)

// checkIP finds versions of IP that there are not, and what has none of version 6.
func (f *sweepFlags) checkIP() error {
	switch {
	case f.ip != 4 && f.ip != 6:
		return usageError("--ip %d: not 4 or 6", f.ip)
	case f.ip == 6 && f.path == orchestrator.PathPrivate:
		return usageError("--ip 6: private paths are of IPv4; leave out --path private")
	case f.ip == 6 && f.networkTier == providers.StandardTier:
		return usageError("--ip 6: Google Cloud's standard tier has no IPv6; leave out --network-tier standard")
	}
	return nil
}
