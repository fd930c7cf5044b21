package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab"
	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/hosts"
	"github.com/antipode-bench/antipode/results"
)

// ownLab is the value of a bare --lab: one that lives and dies with the sweep.
const ownLab = "-"

const (
	// maxMaxTime is the longest life of a machine that Compute Engine takes.
	maxMaxTime = 120 * 24 * time.Hour
	// maxCongestion is the longest name Linux takes, TCP_CA_NAME_MAX less its end.
	maxCongestion = 15
)

type sweepFlags struct {
	wishes     plan.Wishes
	cloudPairs []string
	batchSize  int
	maxBatches int
	pricesFile string
	into       intoFlags
	budgetUSD  float64

	stop        stopFlags
	repeat      repeatFlags
	streams     int
	congestion  string
	flowCheck   bool
	rttProbes   int
	rttInterval time.Duration
	udp         udpFlags
	sockets     socketFlags

	machines    machineTypes
	zones       zoneWishes
	networks    networkWishes
	networksOf  map[string]string // by region id
	spot        bool
	tune        bool
	networkTier string
	path        string
	ip          int
	zonesOf     map[string][]string // by region id
	maxTime     time.Duration
	bootTimeout time.Duration
	reconnect   time.Duration
	callTimeout time.Duration
	awsProfile  string
	awsRole     string
	gcpProject  string
	tags        tagList
	sshFrom     string

	hostsFile string
	hosts     []hosts.Host // of hostsFile

	out     string
	labName string
	lab     labFlags
	yes     bool
	verbose bool

	noPreflight bool
}

func defaultSweepFlags() *sweepFlags {
	return &sweepFlags{out: defaultOut, machines: defaultMachineTypes(), zones: zoneWishes{preferences{}}, networks: networkWishes{preferences{}}, tags: tagList{}}
}

func (f *sweepFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	group(flags, "Which pairs", func() {
		flags.StringSliceVar(&f.wishes.Clouds, "clouds", nil, "only regions of these `CLOUDS` (aws, gcp)")
		flags.StringSliceVar(&f.cloudPairs, "cloud-pairs", nil, "only these `DIRECTIONS` between clouds, for example \"aws>gcp,gcp>gcp\"")
		flags.StringSliceVar(&f.wishes.Regions, "regions", nil, "only these `REGIONS`, for example aws:us-east-1,gcp:us-east4 or \"aws:eu-*\"")
		flags.StringSliceVar(&f.wishes.Continents, "continents", nil, "only regions of these `CONTINENTS`: africa, asia, europe, north-america, south-america, oceania")
		flags.StringSliceVar(&f.wishes.Exclude, "exclude", nil, "without these `REGIONS`, names or patterns")
		flags.StringSliceVar(&f.wishes.Pairs, "pairs", nil, "exactly these directed `PAIRS`, for example \"aws:us-east-1>gcp:us-east4\"")
		flags.Float64Var(&f.wishes.MinKm, "min-km", 0, "only pairs at least `KM` kilometres apart")
		flags.Float64Var(&f.wishes.MaxKm, "max-km", 0, "only pairs at most `KM` kilometres apart (0: no limit)")
		flags.IntVar(&f.wishes.MaxRegions, "max-regions", 0, "at most `N` regions, spread over the globe and both clouds (0: no limit)")
		flags.BoolVar(&f.wishes.OneWay, "one-way", false, "of each two regions one direction only")
		flags.IntVar(&f.batchSize, "batch-size", 0, "`N` regions at a time, each batch launched, measured and torn down (0: all at once)")
		flags.IntVar(&f.maxBatches, "max-batches", 0, "at most `N` batches, those with the most pairs; the plan says what is left out (0: no limit)")
		flags.StringVar(&f.lab.regionsFile, "regions-file", "", regionsFileUsage)
	})
	group(flags, "Flags from a file", func() { registerConfig(cmd) })
	group(flags, "Going on", func() {
		f.into.register(flags)
	})
	group(flags, "How to measure", func() {
		f.stop.register(flags)
		f.repeat.register(flags)
		flags.IntVar(&f.streams, "streams", 1, "`N` parallel TCP connections in each throughput test, 1 to 128")
		flags.StringVar(&f.congestion, "congestion-control", "", "the sender's TCP congestion control `NAME`, for example cubic or bbr (default: the machine's)")
		flags.BoolVar(&f.flowCheck, "flow-check", false, "if a cap limits one stream, try two for a moment: is the cap the flow's or the path's? Sends up to as much again")
		flags.StringVar(&f.path, "path", "", "`ADDRESSES` to measure between, public or private; private ones within Google Cloud only (default: public)")
		flags.IntVar(&f.ip, "ip", 4, "measure over this `VERSION` of IP, 4 or 6; regions without public IPv6 are skipped")
		f.udp.register(flags)
		flags.IntVar(&f.rttProbes, "rtt-probes", 50, "`N` UDP probes in each direction for the round-trip time, 1 to 100000")
		flags.DurationVar(&f.rttInterval, "rtt-interval", 20*time.Millisecond, "`TIME` between these probes, 1ms to 1m")
	})
	group(flags, "With what sockets", func() {
		f.sockets.register(flags)
		flags.BoolVar(&f.tune, "tune", false, "raise what the machines' kernels allow their sockets, as root or with sudo, until the sweep ends")
	})
	group(flags, "Money", func() {
		flags.Float64Var(&f.budgetUSD, "budget-usd", 0, "refuse a plan of more than `USD` dollars, and stop before a sweep costs more (0: no limit)")
		flags.StringVar(&f.pricesFile, "prices", "", "prices of yours: a YAML `FILE` whose prices replace those built in")
	})
	group(flags, "Machines and clouds", func() {
		flags.Var(f.machines, "machine-type", "machine `CLOUD=TYPE`, for one cloud or both; behind a comma the next to try where no zone has room")
		flags.Var(f.zones, "zone", "zone `REGION=ZONE`, for example aws:us-east-1=us-east-1b; behind a comma the next (default: any)")
		flags.Var(f.networks, "network", "network `PLACE=NETWORK` of yours to use: a VPC or a subnet of an AWS region (aws:us-east-1=vpc-…), a network of Google Cloud (gcp=NAME)")
		flags.BoolVar(&f.spot, "spot", false, "spot machines, which cost less and may be taken away at any time")
		flags.StringVar(&f.networkTier, "network-tier", "", "`TIER` of Google Cloud's addresses, premium or standard (default: premium)")
		flags.StringVar(&f.awsProfile, "aws-profile", "", "`PROFILE` of the AWS configuration (default: AWS_PROFILE)")
		flags.StringVar(&f.awsRole, "aws-role", "", "`ARN` of an AWS role to assume with these credentials")
		flags.StringVar(&f.gcpProject, "gcp-project", "", "Google Cloud `PROJECT` (default: GOOGLE_CLOUD_PROJECT, or the credentials' own)")
		flags.Var(f.tags, "tag", "one more `KEY=VALUE` on everything that is made: a tag on AWS, a label on Google Cloud (repeat for more)")
		flags.StringVar(&f.sshFrom, "ssh-from", "", "this computer's public IPv4 `ADDRESS`, the only one let in to SSH (default: as "+checkIP+" sees it)")
		flags.DurationVar(&f.maxTime, "max-time", 0, "machines end themselves after `TIME` whatever happens (default: 30m and twice the expected time)")
		flags.DurationVar(&f.bootTimeout, "boot-timeout", 5*time.Minute, "give up on a machine whose launch, or then whose SSH, takes longer than `TIME`")
		flags.DurationVar(&f.reconnect, "reconnect-timeout", 90*time.Second, "dial a machine again for `TIME` that does not answer any more; its agent ends after a third more")
		flags.DurationVar(&f.callTimeout, "call-timeout", 30*time.Second, "give up on a call to a cloud that takes longer than `TIME`")
	})
	group(flags, "Machines you already have", func() {
		flags.StringVar(&f.hostsFile, "hosts", "", "measure between the machines that this YAML `FILE` lists, and with --regions those too")
	})
	group(flags, "The lab instead of the clouds", func() {
		flags.StringVar(&f.labName, "lab", "", "sweep on a lab of the sweep's own, or on the one called NAME that is up (antipode lab up)")
		flags.Lookup("lab").NoOptDefVal = ownLab
		f.lab.register(flags)
	})
	group(flags, "The run", func() {
		flags.StringVar(&f.out, "out", f.out, "`FOLDER` that gets the run's folder")
		flags.BoolVar(&f.yes, "yes", false, "don't ask before machines are created")
		flags.BoolVar(&f.noPreflight, "no-preflight", false, "don't ask the clouds beforehand what they would refuse")
		flags.BoolVarP(&f.verbose, "verbose", "v", false, "say more of what happens")
	})
}

// selection grants the wishes, after it has checked every other flag too: what
// is wrong with a command line is said before anything is started.
func (f *sweepFlags) selection(all []antipode.Region) ([]antipode.Region, []plan.Pair, error) {
	if err := f.check(); err != nil {
		return nil, nil, err
	}
	for _, s := range f.cloudPairs {
		p, err := plan.ParseCloudPair(s)
		if err != nil {
			return nil, nil, &exitError{exitUsage, err}
		}
		f.wishes.CloudPairs = append(f.wishes.CloudPairs, p)
	}
	if err := f.unlessThere(); err != nil {
		return nil, nil, err
	}
	regions, pairs, err := plan.Select(all, f.wishes)
	if errors.Is(err, plan.ErrNoneMissing) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, &exitError{exitUsage, err}
	}
	if err := errors.Join(f.checkPath(pairs), f.checkMutual(pairs), f.checkIsolation(pairs)); err != nil {
		return nil, nil, err
	}
	if f.zonesOf, err = byRegion("zone", f.zones.preferences, regions); err != nil {
		return nil, nil, err
	}
	if f.networksOf, err = f.networks.of(regions); err != nil {
		return nil, nil, err
	}
	return regions, pairs, errors.Join(f.tags.check(cloudsOf(regions)), f.checkHosts(regions, pairs))
}

func (f *sweepFlags) check() error {
	switch {
	case f.batchSize < 0 || f.batchSize == 1:
		return usageError("--batch-size %d: a pair needs two regions", f.batchSize)
	case f.maxBatches < 0:
		return usageError("--max-batches %d: not a number of batches, 1 or more (0: no limit)", f.maxBatches)
	case !(f.budgetUSD >= 0) || math.IsInf(f.budgetUSD, 0):
		return usageError("--budget-usd %v: not an amount of US dollars above zero, such as 2.50", f.budgetUSD)
	case f.streams < 1 || f.streams > 128:
		return usageError("--streams %d: not 1 to 128", f.streams)
	case f.rttProbes < 1 || f.rttProbes > 100_000:
		return usageError("--rtt-probes %d: not 1 to 100000", f.rttProbes)
	case f.rttInterval < time.Millisecond || f.rttInterval > time.Minute:
		return usageError("--rtt-interval %v: not 1ms to 1m", f.rttInterval)
	case f.maxTime != 0 && (f.maxTime < time.Second || f.maxTime > maxMaxTime):
		return usageError("--max-time %v: not 1s to %v", f.maxTime, maxMaxTime)
	case f.bootTimeout <= 0:
		return usageError("--boot-timeout %v: not above zero", f.bootTimeout)
	case f.reconnect < time.Second:
		return usageError("--reconnect-timeout %v: not 1s or more", f.reconnect)
	case f.callTimeout <= 0:
		return usageError("--call-timeout %v: not above zero", f.callTimeout)
	case f.labName == "" && f.lab != labFlags{regionsFile: f.lab.regionsFile}:
		return usageError("--world, --lab-faults and --lab-link shape a lab: they need --lab")
	case f.labName != "" && f.labName != ownLab && f.lab != labFlags{regionsFile: f.lab.regionsFile}:
		return usageError("--world, --lab-faults and --lab-link are for a new lab; %s is up already", f.labName)
	}
	return errors.Join(f.stop.check(), f.repeat.check(), f.into.check(), f.sockets.check(f.streams), f.checkBidirectional(), f.checkFlow(), f.checkLab(), f.checkCongestion(), f.udp.check(), f.checkSSHFrom(), checkRole(f.awsRole), f.checkTier(), f.checkIP())
}

func (f *sweepFlags) checkLab() error {
	if f.labName == "" || f.labName == ownLab {
		return nil
	}
	if err := lab.CheckName(f.labName); err != nil {
		return usageError("--lab=%.40s: %w", f.labName, err)
	}
	return nil
}

// checkCongestion finds what no kernel calls an algorithm; the machine knows
// which ones it has.
func (f *sweepFlags) checkCongestion() error {
	if f.congestion != "" && (!results.IsName(f.congestion) || len(f.congestion) > maxCongestion) {
		return usageError("--congestion-control %.40q: not the name of a congestion control, such as cubic or bbr", f.congestion)
	}
	return nil
}

func (f *sweepFlags) checkSSHFrom() error {
	if f.sshFrom == "" {
		return nil
	}
	if a, err := netip.ParseAddr(f.sshFrom); err != nil || !a.Is4() {
		return usageError("--ssh-from %s: not an IPv4 address", f.sshFrom)
	}
	return nil
}

func (f *sweepFlags) test() orchestrator.Test {
	return orchestrator.Test{
		Duration: f.stop.duration, Bytes: int64(f.stop.bytes), ErrorRatio: f.stop.errorRatio(), Streams: f.streams, CongestionControl: f.congestion, FlowCheck: f.flowCheck,
		RTTProbes: f.rttProbes, RTTInterval: f.rttInterval, UDP: f.udp.test(), Options: f.sockets.options(),
	}
}

func (f *sweepFlags) checkTier() error {
	switch f.networkTier {
	case "", providers.PremiumTier, providers.StandardTier:
		return nil
	}
	return usageError("--network-tier %.40s: not premium or standard", f.networkTier)
}

// checkPath finds sweeps of which nothing could be measured.
func (f *sweepFlags) checkPath(pairs []plan.Pair) error {
	switch f.path {
	case "", orchestrator.PathPublic, orchestrator.PathPrivate:
	default:
		return usageError("--path %.40s: not public or private", f.path)
	}
	choice := f.choice()
	if slices.ContainsFunc(pairs, func(p plan.Pair) bool { return choice.Bars(p) == "" }) {
		return nil
	}
	return usageError("--path %s: no pair has one; Google Cloud's regions have, among themselves", f.path)
}

func (f *sweepFlags) choice() orchestrator.Choice {
	return orchestrator.Choice{OtherTypes: f.machines.others(), Zones: f.zonesOf, Networks: f.networksOf, Spot: f.spot, NetworkTier: f.networkTier, Path: f.path, IP: f.ip, Tags: f.tags}
}

func (f *sweepFlags) limits() orchestrator.Limits {
	return orchestrator.Limits{Launch: f.bootTimeout, Connect: f.bootTimeout, Reconnect: f.reconnect}
}

// rowFlags keep the lab's figures from being taken for a cloud's.
func (f *sweepFlags) rowFlags() []string {
	if f.labName != "" {
		return []string{results.FlagLab}
	}
	return nil
}

// atOnce is how many machines the flags allow at a time, where that is fewer
// than there are regions.
func (f *sweepFlags) atOnce(regions int) map[string]int {
	if f.batchSize == 0 || f.batchSize >= regions {
		return map[string]int{}
	}
	return map[string]int{plan.AllClouds: f.batchSize}
}

func (f *sweepFlags) rttLength() time.Duration { return time.Duration(f.rttProbes) * f.rttInterval }

func (f *sweepFlags) logLevel() slog.Level {
	if f.verbose {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// clouds lists the clouds of regions, sorted.
func cloudsOf(regions []antipode.Region) []string {
	var clouds []string
	for _, r := range regions {
		if !slices.Contains(clouds, r.Cloud) {
			clouds = append(clouds, r.Cloud)
		}
	}
	slices.Sort(clouds)
	return clouds
}

func plural(n int, what string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
