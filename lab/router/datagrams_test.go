//go:build linux

package router

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/router/packet"
	"github.com/antipode-bench/antipode/probe"
	"github.com/antipode-bench/antipode/probe/wire"
)

// datagramEnv makes a run of TestDatagramAgent be the probe's agent.
const datagramEnv = "ANTIPODE_TEST_DATAGRAMS"

func TestDatagramAgent(t *testing.T) {
	if os.Getenv(datagramEnv) == "" {
		return
	}
	if probe.NewAgent("test").Run(context.Background(), os.Stdin, os.Stdout) != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// datagramAgent is one that runs in a machine, as in the lab.
type datagramAgent struct {
	in   *wire.Reader
	out  *wire.Writer
	peer wire.Peer
}

// datagrams starts an agent, which ends with the test, and by itself if it hangs.
func (m *machine) datagrams(t *testing.T) *datagramAgent {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "-test.run=^TestDatagramAgent$")
	cmd.Env = append(os.Environ(), datagramEnv+"=1")
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	for _, err := range []error{err1, err2, m.do(cmd.Start)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { in.Close(); cmd.Wait(); cancel() })
	a := &datagramAgent{in: wire.NewReader(out), out: wire.NewWriter(in)}
	if err := a.in.Read(new(wire.Hello)); err != nil {
		t.Fatal(err)
	}
	r := a.ask(t, wire.Request{Serve: &wire.Serve{Secret: make([]byte, wire.SecretBytes)}})
	a.peer = wire.Peer{Addr: m.addr.String(), Port: r.Serve.Port}
	return a
}

func (a *datagramAgent) ask(t *testing.T, req wire.Request) (r wire.Response) {
	t.Helper()
	req.ID = 1
	if err := a.out.Write(req); err != nil {
		t.Fatal(err)
	}
	if err := a.in.Read(&r); err != nil || r.Error != "" {
		t.Fatal(err, r.Error)
	}
	return r
}

// TestProbeCountsDatagramsAsTheRouterDoes is over a path with all that can
// befall them, with segmentation offload and without.
func TestProbeCountsDatagramsAsTheRouterDoes(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		for name, offload := range map[string]bool{"single": false, "offload": true} {
			t.Run(name, func(t *testing.T) {
				again(t, func() (wrong string) { // a router that stands still delivers when nobody counts any more
					inet := newInternet(t, kind, flat(t, 0,
						"delay_ms: 5, loss_ratio: 0.02, loss_burst: 3, reorder_ratio: 0.02, reorder_ms: 2, duplicate_ratio: 0.02"), Cost{})
					from, to := inet.machine(t, "lab:a").datagrams(t), inet.machine(t, "lab:b").datagrams(t)
					r := from.ask(t, wire.Request{UDP: &wire.UDP{
						Peer: to.peer, RateBps: 40e6, DurationMs: 1000, Offload: offload, DeadlineMs: 90_000,
					}})
					return checkDatagrams(t, r.UDP, datagramsTo(inet, uint16(to.peer.Port)))
				})
			})
		}
	})
}

func datagramsTo(inet *internet, port uint16) FlowCount {
	for _, f := range inet.FlowCounts() {
		if f.Dst.Port() == port && f.Protocol == packet.UDP {
			return f
		}
	}
	return FlowCount{}
}

// checkDatagrams lets the router have counted a few more of each: the packets
// that open a test are not numbered by the probe.
func checkDatagrams(t *testing.T, got *wire.UDPResult, flow FlowCount) (wrong string) {
	t.Helper()
	opening := flow.Sent - got.Sent
	for name, more := range map[string]int64{
		"sent":       opening,
		"lost":       flow.Lost() - (got.Sent - got.Received),
		"reordered":  flow.Reordered - got.Reordered,
		"duplicated": flow.Duplicated - got.Duplicates,
	} {
		if more < 0 || more > min(opening, 100) {
			wrong = fmt.Sprintf("the router counted %d more %s datagrams than the probe", more, name)
		}
	}
	if got.LossRatio == 0 || got.Reordered == 0 || got.Duplicates == 0 {
		wrong = "nothing of a kind happened"
	}
	t.Logf("%d to open; of %d lost %d (router %d), reordered %d (%d), twice %d (%d); offload %v", opening, got.Sent,
		got.Sent-got.Received, flow.Lost(), got.Reordered, flow.Reordered, got.Duplicates, flow.Duplicated, got.Offload)
	return wrong
}
