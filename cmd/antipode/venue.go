package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/aws"
	"github.com/antipode-bench/antipode/providers/gcp"
	"github.com/antipode-bench/antipode/remote"
)

// checkIP answers with the address that a request comes from.
const checkIP = "https://checkip.amazonaws.com/"

// world is where a sweep happens: the real clouds, or a lab. Nothing after it
// knows the difference.
type world struct {
	providers map[string]providers.Provider
	dial      remote.DialFunc // nil: the ordinary network
	address   netip.Addr      // of this computer, as the machines see it
	lab       *lab.Lab        // nil for the real clouds
	before    traffic         // of the lab, from earlier sweeps
}

func openWorld(ctx context.Context, f *sweepFlags, regions []antipode.Region, log *slog.Logger) (*world, error) {
	if f.labName != "" {
		return openLab(ctx, f, regions, log)
	}
	w := &world{providers: map[string]providers.Provider{}}
	err := w.open(ctx, cloudsOf(regions), aws.Options{Profile: f.awsProfile, CallTimeout: f.callTimeout, Log: log},
		gcp.Options{Project: f.gcpProject, CallTimeout: f.callTimeout, Log: log})
	if err != nil {
		return nil, err
	}
	if f.sshFrom != "" {
		w.address, err = netip.ParseAddr(f.sshFrom)
		return w, err
	}
	w.address, err = ownAddress(ctx, http.DefaultClient, checkIP)
	if err != nil {
		return nil, fmt.Errorf("find out this computer's public address (or give it with --ssh-from): %w", err)
	}
	return w, nil
}

func openLab(ctx context.Context, f *sweepFlags, regions []antipode.Region, log *slog.Logger) (*world, error) {
	l, err := startLab(ctx, f, regions)
	if err != nil {
		return nil, err
	}
	w := &world{providers: map[string]providers.Provider{}, lab: l, dial: l.Dial}
	doors := l.Endpoints()
	client := l.HTTPClient()
	err = w.open(ctx, cloudsOf(regions),
		aws.Options{Endpoint: doors.AWS, HTTPClient: client, Credentials: aws.StaticCredentials("antipode", "lab"), CallTimeout: f.callTimeout, Log: log},
		gcp.Options{Endpoint: doors.GCP, HTTPClient: client, Project: "antipode-lab", CallTimeout: f.callTimeout, Log: log})
	if err == nil {
		w.address, err = ownAddress(ctx, client, doors.CheckIP)
	}
	if f.sshFrom != "" {
		w.address, _ = netip.ParseAddr(f.sshFrom)
	}
	if err == nil {
		w.before, err = w.traffic(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	for cloud, p := range w.providers {
		w.providers[cloud] = mortal{p, l}
	}
	return w, nil
}

func startLab(ctx context.Context, f *sweepFlags, regions []antipode.Region) (*lab.Lab, error) {
	ctx, cancel := context.WithTimeout(ctx, labTimeout)
	defer cancel()
	if f.labName != ownLab {
		l, err := lab.Enter(ctx, f.labName)
		if errors.Is(err, lab.ErrNoLab) {
			return nil, usageError("--lab=%s: no such lab is up; start it with: antipode lab up %s", f.labName, f.labName)
		}
		return l, err
	}
	options, err := f.lab.options(regions)
	if err != nil {
		return nil, err
	}
	options.Log = os.Stderr
	l, err := lab.Start(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("start the lab: %w", err)
	}
	return l, nil
}

// open makes the providers of the clouds that are wanted.
func (w *world) open(ctx context.Context, clouds []string, a aws.Options, g gcp.Options) error {
	for _, cloud := range clouds {
		var p providers.Provider
		var err error
		switch cloud {
		case aws.Cloud:
			p, err = aws.New(ctx, a)
		case gcp.Cloud:
			p, err = gcp.New(ctx, g)
		default:
			err = fmt.Errorf("no machines can be launched in cloud %q", cloud)
		}
		if err != nil {
			return err
		}
		w.providers[cloud] = p
	}
	return nil
}

// gone says why the lab has ended, if it has.
func (w *world) gone() error {
	select {
	case <-w.lab.Done():
		return fmt.Errorf("the lab ended in the middle of the run: %w", w.lab.Err())
	default:
		return nil
	}
}

func (w *world) close() error {
	if w.lab == nil {
		return nil
	}
	if err := w.lab.Close(); err != nil {
		return fmt.Errorf("end the lab: %w", err)
	}
	return nil
}

// ownAddress asks a check-ip service where requests of this computer come from.
func ownAddress(ctx context.Context, client *http.Client, url string) (netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return netip.Addr{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return netip.Addr{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64))
	if err != nil {
		return netip.Addr{}, err
	}
	addr, err := netip.ParseAddr(strings.TrimSpace(string(body)))
	if err != nil || resp.StatusCode != http.StatusOK {
		return netip.Addr{}, fmt.Errorf("%s answered %s: %.40q", url, resp.Status, body)
	}
	return addr, nil
}

// mortal is a cloud that ends with its lab: from then on every call ends at
// once, and nothing is left, because nothing in a lab survives it.
type mortal struct {
	providers.Provider
	lab *lab.Lab
}

func (m mortal) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-m.lab.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (m mortal) ended() bool {
	select {
	case <-m.lab.Done():
		return true
	default:
		return false
	}
}

func (m mortal) Launch(ctx context.Context, spec providers.Spec) (providers.Machine, error) {
	ctx, cancel := m.bound(ctx)
	defer cancel()
	return m.Provider.Launch(ctx, spec)
}

func (m mortal) Admit(ctx context.Context, run providers.Run, region string, probePort int, peers []netip.Addr) error {
	ctx, cancel := m.bound(ctx)
	defer cancel()
	return m.Provider.Admit(ctx, run, region, probePort, peers)
}

func (m mortal) List(ctx context.Context, runID string, regions []string) ([]providers.Resource, error) {
	ctx, cancel := m.bound(ctx)
	defer cancel()
	left, err := m.Provider.List(ctx, runID, regions)
	if err != nil && m.ended() {
		return nil, nil
	}
	return left, err
}

func (m mortal) Destroy(ctx context.Context, runID string, regions []string) error {
	ctx, cancel := m.bound(ctx)
	defer cancel()
	err := m.Provider.Destroy(ctx, runID, regions)
	if err != nil && m.ended() {
		return nil
	}
	return err
}
