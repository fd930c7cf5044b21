//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/antipode-bench/antipode/probe"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/units"
)

const (
	rttWait = time.Second      // for each answer
	slack   = 15 * time.Second // a test over its nominal length
	here    = "here"           // this machine, in the file of samples
)

// loadedIntervalMs is between two round trips beside a TCP throughput test.
const loadedIntervalMs = 20

// testFlags say what is measured, and how it is told.
type testFlags struct {
	duration     time.Duration
	bytes        units.ByteCount
	stop         string
	errorPercent float64
	streams      int
	congestion   string
	flowCheck    bool
	rttProbes    int
	rttInterval  time.Duration
	samples      string
	baseline     units.BitRate
	json         bool
	sockets      socketFlags
	udp          udpFlags
	secret       secretFlags
}

// runTest measures from this machine to a server: first the round-trip time, as
// long as nothing is sent, then the throughput.
func runTest(args []string) error {
	f, peer, err := parseTest(args)
	if err != nil {
		return err
	}
	key, err := f.secret.key(peer.Addr())
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r := report{Peer: peer.String(), Timestamp: time.Now().UTC().Format("2006-01-02T15:04:05.000Z")}
	err = errors.Join(f.measure(ctx, probe.NewClient(key), peer, &r))
	if told := r.tell(os.Stdout, err, f.json); told != nil {
		return told
	}
	return err
}

// parseTest reads the command line and finds the peer.
func parseTest(args []string) (f testFlags, peer netip.AddrPort, err error) {
	flags := newFlags("test", "test ADDR[:PORT]")
	flags.StringVar(&f.stop, "stop", stopAdaptive, "`WHAT` ends the throughput test: adaptive (as soon as its steady rate is known), duration or bytes")
	flags.Float64Var(&f.errorPercent, "error-percent", 5, "adaptive: the rate is known when its 95 % confidence interval is within `P` percent")
	flags.DurationVar(&f.duration, "duration", 10*time.Second, "length of the throughput test, or the longest that it may have; 0 if only --bytes ends it, or for none")
	flags.Var(&f.bytes, "bytes", "end the throughput test after so many `BYTES`, for example 100MB")
	flags.IntVar(&f.streams, "streams", 1, "parallel TCP connections, `N`: 1 to 128")
	flags.StringVar(&f.congestion, "congestion-control", "", "`NAME` of the sender's algorithm, for example bbr (default the machine's)")
	flags.BoolVar(&f.flowCheck, "flow-check", false, "if a cap limits one stream, try two for a moment: is the cap the flow's or the path's?")
	flags.IntVar(&f.rttProbes, "rtt-probes", 100, "`N` UDP probes for the round-trip time; 0 for none, nor during the throughput test")
	flags.DurationVar(&f.rttInterval, "rtt-interval", 10*time.Millisecond, "time between two of them")
	flags.StringVar(&f.samples, "samples", "", "write what the sender's kernel said each 100 ms to `FILE`, as CSV; with --udp what was sent and received")
	flags.Var(&f.baseline, "baseline", "what a burstable machine gets in the long run, `RATE`: a faster result has the flag burst")
	f.sockets.register(flags)
	f.udp.register(flags)
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	f.secret.register(flags)
	rest, err := parse(flags, args)
	if err != nil {
		return f, peer, err
	}
	if len(rest) != 1 {
		return f, peer, misused("want one address, got %d", len(rest))
	}
	if err := f.udp.check(flags); err != nil {
		return f, peer, err
	}
	if flags.Changed("rate") { // the usual one is UDP's
		f.sockets.rate = f.udp.rate
	}
	if err := f.sockets.check(); err != nil {
		return f, peer, err
	}
	if err := f.settle(flags); err != nil {
		return f, peer, err
	}
	peer, err = resolve(rest[0])
	return f, peer, err
}

// What --stop lets end a throughput test.
const (
	stopAdaptive = "adaptive"
	stopDuration = "duration"
	stopBytes    = "bytes"
)

// settle checks what belongs together, and leaves out the usual time of a test
// that bytes end.
func (f *testFlags) settle(flags *pflag.FlagSet) error {
	switch f.stop {
	case stopAdaptive, stopDuration:
	case stopBytes:
		if f.bytes == 0 {
			return misused("--stop bytes: how many? Say it with --bytes")
		}
		if !flags.Changed("duration") {
			f.duration = 0
		}
	default:
		return misused("--stop %.40s: not adaptive, duration or bytes", f.stop)
	}
	return nil
}

// resolve finds the peer's address; a port that is not given is the usual one.
func resolve(text string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = text, strconv.Itoa(wire.DefaultPort)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 || host == "" {
		return netip.AddrPort{}, misused("%q: want HOST or HOST:PORT, with IPv6 addresses in brackets before a port", text)
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		found, err := net.DefaultResolver.LookupNetIP(context.Background(), "ip", host)
		if err != nil {
			return netip.AddrPort{}, fmt.Errorf("find %s: %w", host, err)
		}
		addr = found[0]
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(number)), nil
}

// measure fills in what it can: with an error, what came before it.
func (f *testFlags) measure(ctx context.Context, client *probe.Client, peer netip.AddrPort, r *report) (err error) {
	to := wire.Peer{Addr: peer.Addr().String(), Port: int(peer.Port())}
	rtt := wire.RTT{Peer: to, Probes: f.rttProbes, IntervalMs: ms(f.rttInterval), WaitMs: ms(rttWait),
		DeadlineMs: ms(time.Duration(f.rttProbes)*f.rttInterval + rttWait + slack), Path: true}
	tput := wire.Throughput{Peer: to, Bytes: int64(f.bytes), DurationMs: ms(f.duration), Streams: f.streams,
		CongestionControl: f.congestion, BaselineBps: float64(f.baseline), DeadlineMs: wire.MaxDeadlineMs,
		Options: f.sockets.options(), Reverse: f.sockets.reverse, FlowCheck: f.flowCheck}
	if f.stop == stopAdaptive {
		tput.ErrorRatio = f.errorPercent / 100
	}
	if f.samples != "" {
		tput.SampleMs = sampleMs
	}
	if f.rttProbes > 0 {
		tput.LoadedIntervalMs = loadedIntervalMs
	}
	if f.duration > 0 {
		tput.DeadlineMs = ms(f.duration + slack)
	}
	if err := f.check(rtt, tput); err != nil {
		return err
	}
	samples, err := createSamples(f.samples)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, samples.close()) }()
	if f.rttProbes > 0 {
		result, err := client.RTT(ctx, rtt)
		r.addRTT(result)
		if err != nil {
			return err
		}
	}
	if !f.throughput() {
		return nil
	}
	if f.udp.wanted {
		result, err := client.UDP(ctx, f.udp.request(tput))
		r.addUDP(result)
		return errors.Join(err, samples.addUDP(here, r.Peer, result))
	}
	if f.sockets.bidirectional {
		there, back, err := client.Bidirectional(ctx, tput)
		r.addThroughput(there)
		r.addBack(back)
		return errors.Join(err, samples.add(here, r.Peer, there), samples.add(r.Peer, here, back))
	}
	if f.sockets.reverse {
		result, err := client.Throughput(ctx, tput)
		r.addThroughput(result)
		return errors.Join(err, samples.add(r.Peer, here, result))
	}
	result, loaded, err := client.Loaded(ctx, tput)
	r.addThroughput(result)
	r.addLoaded(loaded)
	return errors.Join(err, samples.add(here, r.Peer, result))
}

// check finds a wrong figure before anything is sent.
func (f *testFlags) check(rtt wire.RTT, tput wire.Throughput) error {
	var wrong []error
	if f.rttProbes != 0 {
		wrong = append(wrong, rtt.Validate())
	}
	switch datagrams := f.udp.request(tput); {
	case !f.throughput() && f.rttProbes != 0:
	case f.udp.wanted:
		wrong = append(wrong, datagrams.Validate())
	default:
		wrong = append(wrong, tput.Validate())
	}
	if err := errors.Join(wrong...); err != nil {
		return misused("%w", err)
	}
	return nil
}

// throughput says whether any is measured.
func (f *testFlags) throughput() bool { return f.duration != 0 || f.bytes != 0 }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
