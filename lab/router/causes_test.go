//go:build linux

package router

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// record keeps what the probe saw, for the tests of package trace.
var record = flag.String("record", "", "`folder` to keep the samples of TestCauses in")

// cause is made to have one limit.
type cause struct {
	name       string
	machineBps float64
	path       string
	sysctls    map[string]string // of both machines, below net/ipv4
	congestion string
	seconds    float64
	options    wire.TCPOptions
	want       string
}

var causes = []cause{
	{"machine cap, cubic", 60e6, "delay_ms: 10", nil, "cubic", 3, wire.TCPOptions{}, trace.LimitRateCap},
	{"machine cap, bbr", 60e6, "delay_ms: 10", nil, "bbr", 2, wire.TCPOptions{}, trace.LimitRateCap},
	{"flow cap, cubic", 200e6, "delay_ms: 10, flow_bps: 40e6", nil, "cubic", 2, wire.TCPOptions{}, trace.LimitFlowCap},
	{"flow cap, bbr", 200e6, "delay_ms: 10, flow_bps: 40e6", nil, "bbr", 1.5, wire.TCPOptions{}, trace.LimitFlowCap},
	{"loss, cubic", 400e6, "delay_ms: 10, loss_ratio: 0.01", nil, "cubic", 3, wire.TCPOptions{}, trace.LimitLoss},
	{"receive window, cubic", 400e6, "delay_ms: 20", map[string]string{"tcp_rmem": "4096 131072 131072"}, "cubic", 2, wire.TCPOptions{}, trace.LimitReceiveWindow},
	{"receive window, bbr", 400e6, "delay_ms: 20", map[string]string{"tcp_rmem": "4096 131072 131072"}, "bbr", 2, wire.TCPOptions{}, trace.LimitReceiveWindow},
	{"send buffer, cubic", 400e6, "delay_ms: 20", map[string]string{"tcp_wmem": "4096 16384 262144"}, "cubic", 2, wire.TCPOptions{}, trace.LimitSendBuffer},
	{"send buffer, bbr", 400e6, "delay_ms: 20", map[string]string{"tcp_wmem": "4096 16384 262144"}, "bbr", 2, wire.TCPOptions{}, trace.LimitSendBuffer},
	{"slow source, cubic", 60e6, "delay_ms: 10", nil, "cubic", 2, wire.TCPOptions{RateBps: 5e6}, trace.LimitApplication},
	{"too short, cubic", 400e6, "delay_ms: 80", nil, "cubic", .6, wire.TCPOptions{}, trace.LimitSlowStart},
}

// TestCauses makes paths with one limit each, and asks the probe for it. A busy
// computer is a limit of its own.
func TestCauses(t *testing.T) {
	kind := link.TUN
	if !canTUN(t) {
		kind = link.Veth
	}
	for _, p := range causes {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			inet := newInternet(t, kind, flat(t, p.machineBps, p.path), Cost{})
			from, to := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
			for _, m := range []*machine{from, to} {
				m.tune(t, p.sysctls)
			}
			sender, receiver := from.agent(t), to.agent(t)
			again(t, func() (wrong string) {
				got := p.measure(t, sender, receiver.peer)
				if got.LimitedBy != p.want {
					return fmt.Sprintf("%s, want %s: %s", got.LimitedBy, p.want, got.LimitedByEvidence)
				}
				p.keep(t, got)
				return ""
			})
		})
	}
}

func (p cause) measure(t *testing.T, from *agent, to wire.Peer) *wire.ThroughputResult {
	t.Helper()
	r := from.ask(t, patience, wire.Request{Throughput: &wire.Throughput{
		Peer: to, DurationMs: 1000 * p.seconds, Streams: 1, DeadlineMs: 90_000, CongestionControl: p.congestion,
		SampleMs: 20, FlowCheck: true, Options: p.options,
	}})
	lacks := strings.Contains(r.Error, "this kernel has only") || strings.Contains(r.Error, "this user may choose only")
	if lacks && os.Getenv("CI") != "true" {
		t.Skip(r.Error)
	}
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	t.Logf("%.1f Mbit/s, ceiling %.1f, %s: %s", r.Throughput.GoodputBps/1e6, r.Throughput.WindowCeilingBps/1e6,
		r.Throughput.LimitedBy, r.Throughput.LimitedByEvidence)
	if r.Throughput.FlowCheck != nil {
		t.Logf("check %+v of %d bytes", *r.Throughput.FlowCheck, r.Throughput.Bytes)
	}
	return r.Throughput
}

// tune sets the machine's own settings of TCP.
func (m *machine) tune(t *testing.T, sysctls map[string]string) {
	t.Helper()
	err := m.do(func() (err error) {
		for name, value := range sysctls {
			err = errors.Join(err, os.WriteFile("/proc/sys/net/ipv4/"+name, []byte(value), 0))
		}
		return err
	})
	if errors.Is(err, unix.EROFS) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (p cause) keep(t *testing.T, r *wire.ThroughputResult) {
	t.Helper()
	if *record == "" {
		return
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.NewReplacer(" ", "-", ",", "").Replace(p.name) + ".json"
	if err := os.WriteFile(filepath.Join(*record, name), append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
