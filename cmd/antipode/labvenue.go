package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab"
	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/providers/aws"
	"github.com/antipode-bench/antipode/providers/gcp"
)

// What a lab's doors know their one account by.
const (
	labProject   = "antipode-lab"
	labAccessKey = "antipode"
	labSecret    = "lab"
)

func openLab(ctx context.Context, f *sweepFlags, regions []antipode.Region, log *slog.Logger, say io.Writer) (*venue, error) {
	l, err := startLab(ctx, f, regions, say)
	if err != nil {
		return nil, err
	}
	v := &venue{lab: l, dial: l.Dial}
	if err := v.enter(ctx, f, regions, log); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return v, nil
}

// startLab enters the lab that is named, or starts one for this sweep.
func startLab(ctx context.Context, f *sweepFlags, regions []antipode.Region, say io.Writer) (*lab.Lab, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, labTimeout, errLabSilent)
	defer cancel()
	if f.labName != ownLab {
		l, err := lab.Enter(ctx, f.labName)
		if errors.Is(err, lab.ErrNoLab) {
			return nil, usageError("--lab=%s: no such lab is up; start it with: antipode lab up %s", f.labName, f.labName)
		}
		return l, err
	}
	options, err := f.lab.options(regions, say)
	if err != nil {
		return nil, err
	}
	options.Log = say
	l, err := lab.Start(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("start the lab: %w", err)
	}
	return l, nil
}

// enter makes the venue the lab's: its doors for the clouds' endpoints, and the
// controller's place in it for ours.
func (v *venue) enter(ctx context.Context, f *sweepFlags, regions []antipode.Region, log *slog.Logger) error {
	a, g := doorOptions(v.lab, f.awsRole, f.callTimeout, log)
	clouds, err := openClouds(ctx, cloudsOf(regions), a, g)
	if err != nil {
		return err
	}
	if v.world, err = v.lab.World(ctx); err != nil {
		return err
	}
	for name, cloud := range clouds {
		clouds[name] = labCloud{cloud, v.lab.Done()}
	}
	v.providers = clouds
	if v.address, err = f.controllerAddr(ctx, v.lab.HTTPClient(), v.lab.Endpoints().CheckIP); err != nil {
		return err
	}
	v.before, err = v.traffic(ctx)
	return err
}

// doorOptions lead to a lab's doors instead of the clouds.
func doorOptions(l *lab.Lab, role string, callTimeout time.Duration, log *slog.Logger) (aws.Options, gcp.Options) {
	doors, client := l.Endpoints(), l.HTTPClient()
	return aws.Options{Endpoint: doors.AWS, HTTPClient: client, Credentials: aws.StaticCredentials(labAccessKey, labSecret),
			Role: role, CallTimeout: callTimeout, Log: log},
		gcp.Options{Endpoint: doors.GCP, HTTPClient: client, Project: labProject, CallTimeout: callTimeout, Log: log}
}

var errLabEnded = errors.New("the lab ended in the middle of the run")

// gone says why the lab has ended, if it has.
func (v *venue) gone() error {
	if closed(v.lab.Done()) {
		return fmt.Errorf("%w: %w", errLabEnded, v.lab.Err())
	}
	return nil
}

// within is ctx until the lab ends: nothing in it will be reached again.
func (v *venue) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	if v.lab != nil {
		go func() {
			select {
			case <-v.lab.Done():
				stop(orchestrator.Stop(v.gone()))
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { stop(nil) }
}
