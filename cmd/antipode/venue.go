package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab"
	"github.com/antipode-bench/antipode/lab/world"
	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/aws"
	"github.com/antipode-bench/antipode/providers/gcp"
	"github.com/antipode-bench/antipode/providers/hosts"
	"github.com/antipode-bench/antipode/remote"
)

// venue is where a sweep takes place: the real clouds, or a lab. What runs the
// sweep doesn't know the difference.
type venue struct {
	providers map[string]providers.Provider
	dial      remote.DialFunc // nil: the ordinary network
	address   netip.Addr      // of this computer, as the machines see it
	lent      orchestrator.LentKeys
	lab       *lab.Lab     // nil for the real clouds
	world     *world.World // of the lab
	before    traffic      // of the lab, from earlier sweeps
	resumed   bool         // before is not from the run's beginning
}

// openVenue opens where the sweep happens. What a lab of its own says goes to say.
func openVenue(ctx context.Context, f *sweepFlags, regions []antipode.Region, log *slog.Logger, say io.Writer) (*venue, error) {
	if f.labName != "" {
		return openLab(ctx, f, regions, log, say)
	}
	a, g := f.cloudOptions(log)
	clouds, err := openClouds(ctx, cloudsOf(regions), a, g)
	if err != nil {
		return nil, err
	}
	v := &venue{providers: clouds}
	if len(f.hosts) > 0 {
		own := hosts.New(f.hosts)
		clouds[hosts.Cloud], v.lent = own, own.Signers
	}
	if !creates(regions) && f.sshFrom == "" { // nobody needs to let us in
		v.address, err = addressTowards(ctx, f.hosts[0])
	} else {
		v.address, err = f.controllerAddr(ctx, http.DefaultClient, checkIP)
	}
	return v, err
}

// cloudOptions lead to the real clouds.
func (f *sweepFlags) cloudOptions(log *slog.Logger) (aws.Options, gcp.Options) {
	return aws.Options{Profile: f.awsProfile, Role: f.awsRole, CallTimeout: f.callTimeout, Log: log},
		gcp.Options{Project: f.gcpProject, CallTimeout: f.callTimeout, Log: log}
}

// openClouds makes the providers of the clouds that are wanted.
func openClouds(ctx context.Context, names []string, a aws.Options, g gcp.Options) (map[string]providers.Provider, error) {
	clouds := map[string]providers.Provider{}
	for _, name := range names {
		var err error
		switch name {
		case aws.Cloud:
			clouds[name], err = aws.New(ctx, a)
		case gcp.Cloud:
			clouds[name], err = gcp.New(ctx, g)
		case hosts.Cloud: // has no API
		default:
			err = fmt.Errorf("no machines can be launched in cloud %q", name)
		}
		if err != nil {
			return nil, err
		}
	}
	return clouds, nil
}

// close ends the lab, if there is one of the sweep's own.
func (v *venue) close() error {
	if v.lab == nil {
		return nil
	}
	if err := v.lab.Close(); err != nil {
		return fmt.Errorf("end the lab: %w", err)
	}
	return nil
}

// ssh is how the machines of a run are reached here.
func (v *venue) ssh(runID string, probes remote.Probes, f *sweepFlags) orchestrator.SSH {
	return orchestrator.SSH{RunID: runID, Probes: probes, Dial: v.dial, Lent: v.lent, Linger: f.limits().Linger()}
}
