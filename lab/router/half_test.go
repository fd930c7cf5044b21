//go:build linux

package router

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// carry sends n segments, 1 ms apart, and delivers what arrives to their half.
func carry(t *testing.T, path string, n int) (FlowCount, PairCount) {
	t.Helper()
	r, from, to := quiet(t, flat(t, 0, path))
	p, h := r.path("lab:a", "lab:b"), &half{}
	for i := range n {
		f := &flight{Packet: superPacket(t, 1), memory: r.memory.get(1), path: p, half: h, to: to}
		h.send(f)
		r.send(from, f, time.Duration(i)*time.Millisecond)
	}
	for f := r.schedule.pop(time.Hour); f != nil; f = r.schedule.pop(time.Hour) {
		h.deliver(f, f.at, 0)
		r.memory.put(f.memory)
	}
	if r.memory.used != 0 {
		t.Errorf("%d bytes leak", r.memory.used)
	}
	return h.count(superPacket(t, 1).Flow), p.count
}

func TestReordering(t *testing.T) {
	flow, _ := carry(t, "delay_ms: 10, reorder_ratio: 0.1, reorder_ms: 2.5", 10_000)
	// Of all held back few have nothing behind them. Six standard deviations.
	if flow.Reordered < 820 || flow.Reordered > 1180 || flow.Lost() != 0 || flow.Duplicated != 0 {
		t.Errorf("%+v", flow)
	}
	late, _ := carry(t, "delay_ms: 10, reorder_ratio: 0.1, reorder_ms: 0.5", 10_000)
	if late.Reordered != 0 {
		t.Errorf("%d were overtaken by what is sent 1 ms later, held back for 0.5", late.Reordered)
	}
}

func TestDuplication(t *testing.T) {
	flow, pair := carry(t, "delay_ms: 10, duplicate_ratio: 0.1, loss_ratio: 0.05", 10_000)
	if flow.Duplicated < 770 || flow.Duplicated > 1130 || flow.Duplicated != pair.Copied {
		t.Errorf("%+v, %d copied", flow, pair.Copied)
	}
	if flow.Lost() != pair.Dropped.Loss || flow.Lost() < 370 || flow.Lost() > 630 || flow.Reordered != 0 {
		t.Errorf("%+v, %+v", flow, pair.Dropped)
	}
}

func TestSamplesAreSpaced(t *testing.T) {
	h := &half{}
	for i := range 10 {
		f := &flight{Packet: superPacket(t, 1)}
		f.Head[27] = byte(i) // a sequence number of its own, within what is there
		h.deliver(f, time.Duration(i)*4*time.Millisecond, 10*time.Millisecond)
	}
	want := []FlowSample{{0, 1448}, {12 * time.Millisecond, 1451}, {24 * time.Millisecond, 1454}, {36 * time.Millisecond, 1457}}
	if diff := cmp.Diff(want, h.count(superPacket(t, 1).Flow).Samples); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
}
