//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab"
	"github.com/antipode-bench/antipode/lab/router"
	"github.com/antipode-bench/antipode/lab/router/packet"
	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/world"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/remote"
)

const (
	// sampleEvery is the router's, and the probe's: its own is 10 ms as well.
	sampleEvery = 10 * time.Millisecond
	setUpLimit  = time.Minute
	testSlack   = 20 * time.Second // a test over its nominal length
	user        = "antipode"
)

// tools are the programs that run in a lab.
type tools struct {
	machine []byte
	probes  remote.Probes
}

// loadTools reads the two binaries; the probe goes to the machines compressed.
func loadTools(o options) (t tools, err error) {
	if t.machine, err = os.ReadFile(o.machine); err != nil {
		return t, err
	}
	probe, err := os.ReadFile(o.probe)
	if err != nil {
		return t, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(probe); err != nil {
		return t, err
	}
	if err := w.Close(); err != nil {
		return t, err
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return t, err
	}
	t.probes = remote.Probes{unix.ByteSliceToString(name.Machine[:]): {Gzip: packed.Bytes(), SHA256: sha256.Sum256(probe)}}
	return t, nil
}

// site is a lab with some paths in it.
type site struct {
	lab    *lab.Lab
	places []*place // in the order of the paths
}

// place is a path in a lab, with an agent at both of its ends.
type place struct {
	lab      *lab.Lab
	path     Path
	from, to *station
}

// station is a machine with an agent.
type station struct {
	addr  netip.Addr
	conn  *remote.Conn
	agent *remote.Agent
}

// bootsAtOnce is how many paths of a site get their machines at a time.
const bootsAtOnce = 3

// open builds a site. What is rough is up sooner, and its delays are up to half
// a millisecond too long.
func (t tools) open(ctx context.Context, paths []Path, quirks func(Path) world.Quirks, rough bool) (_ *site, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, setUpLimit, fmt.Errorf("not set up within %s", setUpLimit))
	defer cancel()
	s := &site{}
	if s.lab, err = lab.Start(ctx, lab.Options{
		World: worldOf(paths, quirks), Machine: t.machine, Rough: rough, SampleEvery: sampleEvery,
	}); err != nil {
		return nil, err
	}
	var booting errgroup.Group
	booting.SetLimit(bootsAtOnce)
	for _, p := range paths {
		pl := &place{lab: s.lab, path: p}
		s.places = append(s.places, pl)
		booting.Go(func() error { return t.occupy(ctx, pl) })
	}
	if err := booting.Wait(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *site) close() error { return s.lab.Close() }

// occupy boots the machines of a place.
func (t tools) occupy(ctx context.Context, pl *place) error {
	secret := make([]byte, wire.SecretBytes)
	rand.Read(secret) // never fails
	var booting errgroup.Group
	booting.Go(func() (err error) { pl.from, err = t.station(ctx, pl, pl.path.from(), secret); return err })
	booting.Go(func() (err error) { pl.to, err = t.station(ctx, pl, pl.path.to(), secret); return err })
	return booting.Wait()
}

// station boots a machine, logs in and starts the probe on it, as a sweep does.
func (t tools) station(ctx context.Context, pl *place, region string, secret []byte) (*station, error) {
	host, err := remote.NewKeyPair("host")
	if err != nil {
		return nil, err
	}
	own, err := remote.NewKeyPair("accuracy")
	if err != nil {
		return nil, err
	}
	cloud, name, _ := antipode.SplitID(region)
	addresses, err := pl.lab.StartMachine(ctx, vm.Spec{
		ID: name, Cloud: cloud, Region: name, Hostname: name, User: user,
		AuthorizedKeys: []string{own.AuthorizedKey}, HostKeyPEM: host.PEM, BootCommands: pl.path.bootCommands(),
	})
	if err != nil {
		return nil, err
	}
	s := &station{addr: addresses.Public}
	target := remote.Target{Name: name, Addr: netip.AddrPortFrom(s.addr, 22), User: user, HostKey: host.AuthorizedKey}
	// What is sent before a machine is up is lost, and TCP sends it again only
	// after a second: dial anew sooner.
	options := remote.Options{Key: own.Signer, Dial: pl.lab.Dial, DialTimeout: 250 * time.Millisecond, RetryMin: 20 * time.Millisecond, RetryMax: 250 * time.Millisecond}
	if s.conn, err = remote.Connect(ctx, target, options); err != nil {
		return nil, err
	}
	program, err := s.conn.Push(ctx, t.probes)
	if err != nil {
		return nil, err
	}
	if s.agent, err = s.conn.StartAgent(ctx, program); err != nil {
		return nil, err
	}
	_, err = s.agent.Call(ctx, wire.Request{Serve: &wire.Serve{Secret: secret, Port: wire.DefaultPort}})
	return s, err
}

// peer is where the receiving agent listens.
func (pl *place) peer() wire.Peer {
	return wire.Peer{Addr: pl.to.addr.String(), Port: wire.DefaultPort}
}

// ask has the sending agent measure.
func (pl *place) ask(ctx context.Context, r wire.Request, nominal time.Duration) (wire.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, nominal+2*testSlack)
	defer cancel()
	return pl.from.agent.Call(ctx, r)
}

// maxLateDatagrams is the sweep's limit: of both directions.
const maxLateDatagrams = 0.10

// lateRatio is the share of the segments on the path that the lab delivered too
// late.
func (pl *place) lateRatio(ctx context.Context) (float64, error) {
	there, _, err := pl.counts(ctx)
	return float64(there.Late.Segments) / float64(max(1, there.Delivered.Packets)), err
}

// punctual is an error if the lab was too busy for the round trips to be exact.
func (pl *place) punctual(ctx context.Context) error {
	there, back, err := pl.counts(ctx)
	if err != nil {
		return err
	}
	late, all := there.Late.Datagrams+back.Late.Datagrams, there.Delivered.Datagrams+back.Delivered.Datagrams
	if float64(late) > maxLateDatagrams*float64(all) {
		return fmt.Errorf("the lab was too busy: %d of %d datagrams were late", late, all)
	}
	return nil
}

// counts are the router's of both directions of the path.
func (pl *place) counts(ctx context.Context) (there, back router.PairCount, err error) {
	data, err := pl.lab.Counts(ctx)
	if err != nil {
		return there, back, err
	}
	var counts struct{ Pairs []router.PairCount }
	if err := json.Unmarshal(data, &counts); err != nil {
		return there, back, err
	}
	for _, c := range counts.Pairs {
		switch {
		case c.From == pl.path.from() && c.To == pl.path.to():
			there = c
		case c.From == pl.path.to() && c.To == pl.path.from():
			back = c
		}
	}
	if there.From == "" || back.From == "" {
		return there, back, errors.New("the router knows no such pair")
	}
	return there, back, nil
}

// carried is the router's count of the measured flow: of UDP the one from sender
// to receiver that carried most, of TCP the one of the test's own port.
func (pl *place) carried(ctx context.Context, protocol uint8) (most router.FlowCount, err error) {
	data, err := pl.lab.Flows(ctx)
	if err != nil {
		return most, err
	}
	var flows []router.FlowCount
	if err := json.Unmarshal(data, &flows); err != nil {
		return most, err
	}
	for _, f := range flows {
		here := f.Protocol == protocol && f.Src.Addr() == pl.from.addr && f.Dst.Addr() == pl.to.addr
		if here && (protocol == packet.UDP || f.Src.Port() == clientPort) && f.Delivered.Bytes > most.Delivered.Bytes {
			most = f
		}
	}
	if most.Sent == 0 {
		return most, errors.New("the router knows no such flow")
	}
	return most, nil
}
