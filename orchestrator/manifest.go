package orchestrator

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
)

const (
	manifestFile   = "run.json"
	manifestSchema = 4
)

// Manifest is run.json: what a run is, and what it measured with. It is written
// before the first create, and again with the machines when all is measured.
type Manifest struct {
	Schema       int               `json:"schema"`
	RunID        string            `json:"run_id"`
	Version      string            `json:"version"` // of antipode
	Started      time.Time         `json:"started"`
	Expires      time.Time         `json:"expires"`
	Command      map[string]string `json:"command,omitempty"` // Config.Command
	Test         manifestTest      `json:"test"`
	Repeat       plan.Repetition   `json:"repeat,omitzero"`
	Tune         bool              `json:"tune,omitempty"`
	Isolation    plan.Isolation    `json:"isolation"`
	ProbePort    int               `json:"probe_port"`
	Flags        []string          `json:"flags,omitempty"`
	MachineTypes map[string]string `json:"machine_types"` // wished for, by cloud
	Choice       Choice            `json:"choice,omitzero"`
	AtOnce       map[string]int    `json:"at_once,omitempty"` // machines there may be at a time, by cloud
	Regions      []manifestRegion  `json:"regions"`
	Pairs        []string          `json:"pairs"` // "aws:us-east-1>gcp:us-east4"

	BudgetUSD float64   `json:"budget_usd,omitempty"`
	Estimate  *Estimate `json:"estimate,omitempty"` // of the plan
	Reached   *Reached  `json:"reached,omitempty"`  // by the process that wrote this
	Used      *Usage    `json:"used,omitempty"`     // when all is torn down
}

type manifestTest struct {
	DurationMs        float64 `json:"duration_ms"`
	Bytes             int64   `json:"bytes"`
	ErrorRatio        float64 `json:"error_ratio,omitempty"`
	Streams           int     `json:"streams"`
	CongestionControl string  `json:"congestion_control,omitempty"`
	FlowCheck         bool    `json:"flow_check,omitempty"`
	RTTProbes         int     `json:"rtt_probes"`
	RTTIntervalMs     float64 `json:"rtt_interval_ms"`
	UDPRateBps        float64 `json:"udp_rate_bps,omitempty"`
	UDPDurationMs     float64 `json:"udp_duration_ms,omitempty"`

	Options wire.TCPOptions `json:"options,omitzero"`
}

type manifestRegion struct {
	Cloud     string           `json:"cloud"`
	Region    string           `json:"region"`
	Latitude  float64          `json:"latitude"`
	Longitude float64          `json:"longitude"`
	Unplaced  bool             `json:"unplaced,omitempty"` // the coordinates mean nothing
	Country   string           `json:"country,omitempty"`
	Partition string           `json:"partition,omitempty"`
	Machine   *manifestMachine `json:"machine,omitempty"`
	Settings  []remote.Setting `json:"settings,omitempty"` // of the machine, that were tuned
	Probe     *wire.Hello      `json:"probe,omitempty"`    // its build, and kernel, CPUs and congestion control of the machine
}

type manifestMachine struct {
	Zone    string `json:"zone"`
	ID      string `json:"id"`
	Type    string `json:"type"`
	Image   string `json:"image"`
	Public  string `json:"public"`
	Private string `json:"private"`
	IPv6    string `json:"ipv6,omitempty"`
	HostKey string `json:"host_key"`
}

func (c Config) manifest(started time.Time) Manifest {
	t := c.Test
	m := Manifest{
		Schema: manifestSchema, RunID: c.RunID, Version: c.Version,
		Started: started.UTC().Truncate(time.Second), Expires: c.Expires.UTC(), Command: c.Command,
		Test: manifestTest{
			DurationMs: ms(t.Duration), Bytes: t.Bytes, ErrorRatio: t.ErrorRatio, Streams: t.Streams, CongestionControl: t.CongestionControl, FlowCheck: t.FlowCheck,
			RTTProbes: t.RTTProbes, RTTIntervalMs: ms(t.RTTInterval), UDPRateBps: t.UDP.RateBps, UDPDurationMs: ms(t.UDP.Duration), Options: t.Options,
		},
		Repeat: c.Repeat, Tune: c.Tune, Isolation: c.Isolation, ProbePort: c.ProbePort, Flags: c.Flags, MachineTypes: c.MachineTypes, Choice: c.Choice, AtOnce: c.AtOnce,
		BudgetUSD: c.BudgetUSD, Estimate: c.Estimate,
	}
	for _, r := range plan.RegionsOf(c.Pairs) {
		m.Regions = append(m.Regions, manifestRegion{Cloud: r.Cloud, Region: r.Name, Latitude: r.Latitude, Longitude: r.Longitude, Unplaced: r.Unplaced,
			Country: r.Country, Partition: r.Partition})
	}
	for _, p := range c.Pairs {
		m.Pairs = append(m.Pairs, p.String())
	}
	return m
}

// config undoes manifest.
func (m Manifest) config() (Config, error) {
	t := m.Test
	c := Config{
		RunID: m.RunID, Expires: m.Expires, Version: m.Version, Command: m.Command,
		Test: Test{
			Duration: span(t.DurationMs), Bytes: t.Bytes, ErrorRatio: t.ErrorRatio, Streams: t.Streams, CongestionControl: t.CongestionControl, FlowCheck: t.FlowCheck,
			RTTProbes: t.RTTProbes, RTTInterval: span(t.RTTIntervalMs), UDP: UDPTest{t.UDPRateBps, span(t.UDPDurationMs)}, Options: t.Options,
		},
		Repeat: m.Repeat, Tune: m.Tune, Isolation: m.Isolation, ProbePort: m.ProbePort, Flags: m.Flags, MachineTypes: m.MachineTypes, Choice: m.Choice, AtOnce: m.AtOnce,
		BudgetUSD: m.BudgetUSD, Estimate: m.Estimate,
	}
	regions := map[string]antipode.Region{}
	for _, r := range m.Regions {
		region := antipode.Region{Cloud: r.Cloud, Name: r.Region, Latitude: r.Latitude, Longitude: r.Longitude, Unplaced: r.Unplaced,
			Country: r.Country, Partition: r.Partition}
		regions[region.ID()] = region
	}
	for _, text := range m.Pairs {
		p, err := plan.ParsePair(text, regions)
		if err != nil {
			return c, err
		}
		c.Pairs = append(c.Pairs, p)
	}
	return c, nil
}

func span(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// know adds what became known of machines.
func (m *Manifest) know(machines map[string]providers.Machine, hellos map[string]wire.Hello, settings map[string][]remote.Setting) {
	for i := range m.Regions {
		r := &m.Regions[i]
		id := r.Cloud + ":" + r.Region
		if known, ok := machines[id]; ok && known.ID != "" {
			r.Machine = &manifestMachine{Zone: known.Zone, ID: known.ID, Type: known.Type, Image: known.Image,
				Public: known.Public.String(), Private: known.Private.String(), HostKey: known.HostKey}
			if known.IPv6.IsValid() {
				r.Machine.IPv6 = known.IPv6.String()
			}
		}
		if hello, ok := hellos[id]; ok {
			r.Probe = &hello
		}
		if tuned, ok := settings[id]; ok {
			r.Settings = tuned
		}
	}
}

func (m Manifest) write(dir string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = replaceFile(dir, manifestFile, append(data, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", manifestFile, err)
	}
	return nil
}

func readManifest(dir string) (m Manifest, err error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s: %w", manifestFile, err)
	}
	if m.Schema != manifestSchema {
		return m, fmt.Errorf("%s is of schema %d; this antipode knows schema %d: use the version that began the run, %s",
			manifestFile, m.Schema, manifestSchema, m.Version)
	}
	return m, nil
}

// replaceFile puts a whole file on disk under its name, or leaves the old one.
func replaceFile(dir, name string, data []byte, mode os.FileMode) error {
	file, err := os.OpenFile(filepath.Join(dir, name+".new"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	if err := os.Rename(file.Name(), filepath.Join(dir, name)); err != nil {
		return err
	}
	return syncDir(dir)
}
