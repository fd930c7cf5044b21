package orchestrator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
)

// history is what a journal tells of a run so far.
type history struct {
	tried    map[string][]string          // region names by cloud: a launch was intended
	machines map[string]providers.Machine // as last launched, by region id
	replaced map[string]bool              // by region id: a replacement was intended
	instead  map[string]providers.Machine // by region id: to be replaced, as far as is known
	hellos   map[string]wire.Hello        // what their agents said, by region id
	settings map[string][]remote.Setting  // what became of them, by region id
	cleared  map[string]bool              // by cloud: torn down, and nothing launched since
	gone     bool                         // all of it is: there is nothing to adopt
}

// recall reads records in their order.
func recall(records []Record) history {
	h := history{
		tried: map[string][]string{}, machines: map[string]providers.Machine{},
		replaced: map[string]bool{}, instead: map[string]providers.Machine{},
		hellos: map[string]wire.Hello{}, settings: map[string][]remote.Setting{}, cleared: map[string]bool{},
	}
	for _, r := range records {
		switch r.What {
		case RecordLaunch:
			cloud, region, _ := antipode.SplitID(r.Region)
			h.cleared[cloud] = false
			if r.Instead != nil {
				h.replaced[r.Region], h.instead[r.Region] = true, *r.Instead
			}
			if !slices.Contains(h.tried[cloud], region) {
				h.tried[cloud] = append(h.tried[cloud], region)
			}
		case RecordLaunched:
			delete(h.instead, r.Region)
			if r.Machine != nil {
				h.machines[r.Region] = *r.Machine
			}
		case RecordReady:
			if r.Hello != nil {
				h.hellos[r.Region] = *r.Hello
			}
			h.settings[r.Region] = r.Settings
		case RecordDestroyed:
			h.cleared[r.Cloud] = r.Error == "" && len(r.Left) == 0
		}
	}
	return h
}

// clouds in which something may have been made, sorted.
func (h history) clouds() []string { return slices.Sorted(maps.Keys(h.tried)) }

// clean reports whether every cloud was torn down.
func (h history) clean() bool {
	return !slices.ContainsFunc(h.clouds(), func(cloud string) bool { return !h.cleared[cloud] })
}

// launched reports whether a launch in the region was intended before, of which
// something may be there.
func (h history) launched(r antipode.Region) bool {
	return !h.gone && slices.Contains(h.tried[r.Cloud], r.Name)
}

// pinned is m with the host key it was launched with: a key that is read off
// the machine again later may be another's.
func (h history) pinned(id string, m providers.Machine) providers.Machine {
	if old := h.machines[id]; old.ID == m.ID && old.Public == m.Public && old.HostKey != "" {
		m.HostKey = old.HostKey
	}
	return m
}

// parseJournal reads the whole records and returns how long they are, in bytes.
// What follows them, and holds no record, was torn by the end of its writer.
func parseJournal(data []byte) (records []Record, whole int, err error) {
	at := 0
	for l := range bytes.Lines(data) {
		at += len(l)
		var r Record
		if bad := json.Unmarshal(l, &r); bad != nil || l[len(l)-1] != '\n' {
			if err == nil && at < len(data) {
				err = fmt.Errorf("journal, after %d bytes: %w", whole, bad)
			}
			continue
		}
		if err != nil {
			return nil, 0, err // a record follows what is none: this is no torn end
		}
		records, whole = append(records, r), at
	}
	return records, whole, nil
}
