package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/cleanup"
	"github.com/antipode-bench/antipode/lab"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/aws"
	"github.com/antipode-bench/antipode/providers/gcp"
)

// accountFlags say where runs may have left something: in which clouds, whose
// account, or which lab.
type accountFlags struct {
	clouds      []string
	regionsFile string
	labName     string
	awsProfile  string
	awsRole     string
	gcpProject  string
	callTimeout time.Duration
	verbose     bool
}

func (f *accountFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.clouds, "clouds", nil, "only these `CLOUDS` (default aws,gcp)")
	flags.StringVar(&f.regionsFile, "regions-file", "", "look into the regions of this YAML `FILE` instead of every commercial one")
	flags.StringVar(&f.labName, "lab", "", "look into the lab `NAME` that is up instead of the clouds")
	flags.StringVar(&f.awsProfile, "aws-profile", "", "`PROFILE` of the AWS configuration (default: AWS_PROFILE)")
	flags.StringVar(&f.awsRole, "aws-role", "", "`ARN` of an AWS role to assume with these credentials")
	flags.StringVar(&f.gcpProject, "gcp-project", "", "Google Cloud `PROJECT` (default: GOOGLE_CLOUD_PROJECT, or the credentials' own)")
	flags.DurationVar(&f.callTimeout, "call-timeout", providers.DefaultCallTimeout, "give up on a call to a cloud that takes longer than `TIME`")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say more of what happens")
}

func (f *accountFlags) check() error {
	if f.callTimeout <= 0 {
		return usageError("--call-timeout %v: not above zero", f.callTimeout)
	}
	for _, name := range f.clouds {
		if _, ok := defaultMachineTypes().preferences[name]; !ok {
			return usageError("--clouds: unknown cloud %q; there are aws and gcp", name)
		}
	}
	if f.labName != "" && (f.awsProfile != "" || f.gcpProject != "") {
		return usageError("--aws-profile and --gcp-project are for the clouds; a lab has one account")
	}
	return checkRole(f.awsRole)
}

func checkRole(arn string) error {
	if arn == "" {
		return nil
	}
	if err := aws.CheckRole(arn); err != nil {
		return usageError("--aws-role: %w", err)
	}
	return nil
}

// accounts are the clouds to look into, as open as they were to us.
type accounts struct {
	clouds []cleanup.Cloud
	close  func() error
}

// open finds the way to each cloud. One that can't be opened stays in the list,
// and answers every question with the reason: what it holds is unknown.
func (f *accountFlags) open(ctx context.Context, log *slog.Logger) (accounts, error) {
	if f.labName != "" {
		return f.openLab(ctx, log)
	}
	regions, err := regionsFrom(f.regionsFile)
	if err != nil {
		return accounts{}, err
	}
	if f.regionsFile == "" {
		// Other partitions need other accounts; they are chosen by file.
		regions = slices.DeleteFunc(regions, func(r antipode.Region) bool { return r.Partition != "" })
	}
	return accounts{
		clouds: f.reach(ctx, regions, aws.Options{Profile: f.awsProfile, Role: f.awsRole, CallTimeout: f.callTimeout, Log: log},
			gcp.Options{Project: f.gcpProject, CallTimeout: f.callTimeout, Log: log}),
		close: func() error { return nil },
	}, nil
}

// openLab enters a lab, and looks into the regions it has.
func (f *accountFlags) openLab(ctx context.Context, log *slog.Logger) (accounts, error) {
	ectx, cancel := context.WithTimeout(ctx, labTimeout)
	defer cancel()
	l, err := lab.Enter(ectx, f.labName)
	if errors.Is(err, lab.ErrNoLab) {
		return accounts{}, usageError("--lab=%s: no such lab is up; antipode lab list shows those that are", f.labName)
	}
	if err != nil {
		return accounts{}, err
	}
	regions, err := f.labRegions(ectx, l)
	if err != nil {
		return accounts{}, errors.Join(err, l.Close())
	}
	a, g := doorOptions(l, f.awsRole, f.callTimeout, log)
	return accounts{f.reach(ctx, regions, a, g), l.Close}, nil
}

func (f *accountFlags) labRegions(ctx context.Context, l *lab.Lab) ([]antipode.Region, error) {
	if f.regionsFile != "" {
		return regionsFrom(f.regionsFile)
	}
	w, err := l.World(ctx)
	if err != nil {
		return nil, err
	}
	var regions []antipode.Region
	for _, r := range w.Regions {
		cloud, name, _ := strings.Cut(r.ID, ":")
		regions = append(regions, antipode.Region{Cloud: cloud, Name: name})
	}
	return regions, nil
}

// reach makes the providers of the wanted clouds.
func (f *accountFlags) reach(ctx context.Context, regions []antipode.Region, a aws.Options, g gcp.Options) []cleanup.Cloud {
	var clouds []cleanup.Cloud
	for _, name := range []string{aws.Cloud, gcp.Cloud} {
		if len(f.clouds) > 0 && !slices.Contains(f.clouds, name) {
			continue
		}
		c := cleanup.Cloud{Regions: namesIn(regions, name)}
		if opened, err := openClouds(ctx, []string{name}, a, g); err != nil {
			c.Provider = unreachable{cloud: name, err: err}
		} else {
			c.Provider = opened[name]
		}
		clouds = append(clouds, c)
	}
	return clouds
}

// namesIn are the names of a cloud's regions.
func namesIn(regions []antipode.Region, cloud string) []string {
	var names []string
	for _, r := range regions {
		if r.Cloud == cloud {
			names = append(names, r.Name)
		}
	}
	return names
}

// unreachable is a cloud that we have no credentials for.
type unreachable struct {
	providers.Provider // nil: nothing is launched there
	cloud              string
	err                error
}

func (u unreachable) Cloud() string { return u.cloud }

func (u unreachable) List(context.Context, string, []string) ([]providers.Resource, error) {
	return nil, u.err
}

func (u unreachable) Destroy(context.Context, string, []string) error { return u.err }
