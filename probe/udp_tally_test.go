//go:build linux

package probe

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestUDPTallyCounts gives it sequence numbers, one arrival each.
func TestUDPTallyCounts(t *testing.T) {
	const far = 3 * udpWindow
	tests := []struct {
		name string
		seqs []uint64
		want udpCount
	}{
		{"in order", []uint64{0, 1, 2, 3}, udpCount{Datagrams: 4}},
		{"a hole", []uint64{0, 1, 3, 4}, udpCount{Datagrams: 4}},
		{"the first lost", []uint64{5, 6}, udpCount{Datagrams: 2}},
		{"swapped", []uint64{0, 2, 1, 3}, udpCount{Datagrams: 4, Reordered: 1}},
		{"one early", []uint64{3, 0, 1, 2, 4}, udpCount{Datagrams: 5, Reordered: 3}},
		{"twice", []uint64{0, 1, 1, 2}, udpCount{Datagrams: 3, Duplicates: 1}},
		{"thrice, late", []uint64{0, 1, 2, 1, 1}, udpCount{Datagrams: 3, Duplicates: 2}},
		{"late, and again", []uint64{0, 2, 1, 1}, udpCount{Datagrams: 3, Reordered: 1, Duplicates: 1}},
		{"a gap longer than a window", []uint64{7, far, 7, far - 1, far - 1, far}, udpCount{Datagrams: 3, Reordered: 1, Duplicates: 2, Ancient: 1}},
		{"a window later", []uint64{7, 7 + udpWindow, 7, 8}, udpCount{Datagrams: 3, Reordered: 1, Ancient: 1}},
		{"a window and one later", []uint64{7, 8 + udpWindow, 7, 8}, udpCount{Datagrams: 2, Ancient: 2}},
		{"the highest there is", []uint64{trialBit - 1, trialBit - 2, trialBit - 1}, udpCount{Datagrams: 2, Reordered: 1, Duplicates: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tally := newUDPTally()
			for _, seq := range tt.seqs {
				tally.arrival(0, 0, []uint64{seq}, 100)
			}
			tt.want.Bytes = 100 * tt.want.Datagrams
			tt.want.FirstDatagrams, tt.want.FirstBytes = 1, 100
			if d := cmp.Diff(tt.want, tally.udpCount); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestUDPTallyAgainstMap compares it with counting that forgets nothing.
func TestUDPTallyAgainstMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	tally, seen := newUDPTally(), map[uint64]bool{}
	var want udpCount
	var highest, sent uint64
	for range 20_000 {
		sent += random.Uint64N(200)
		var seqs []uint64
		for range 1 + random.Uint64N(5) {
			seqs = append(seqs, sent-min(sent, random.Uint64N(300)))
		}
		for _, seq := range seqs {
			switch {
			case seen[seq]:
				want.Duplicates++
				continue
			case seq < highest:
				want.Reordered++
			}
			seen[seq], highest = true, max(highest, seq)
			want.Datagrams++
		}
		tally.arrival(0, 0, seqs, 1)
	}
	got := tally.udpCount
	if got.Datagrams != want.Datagrams || got.Reordered != want.Reordered || got.Duplicates != want.Duplicates || got.Ancient != 0 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestUDPTallyTimes(t *testing.T) {
	tally := newUDPTally()
	ms := time.Millisecond
	tally.arrival(0, 100*ms, []uint64{0, 1}, 10)     // a transit of 100 ms by two clocks
	tally.arrival(10*ms, 110*ms, []uint64{2, 3}, 10) // the same
	tally.arrival(20*ms, 136*ms, []uint64{4, 5}, 10) // 16 ms more
	tally.arrival(20*ms, 500*ms, []uint64{4, 5}, 10) // nothing new
	tally.arrival(10*ms, 142*ms, []uint64{5, 9}, 10) // 16 ms more again
	want := float64(ms) + (16*float64(ms)-float64(ms))/16
	if math.Abs(tally.JitterNs-want) > 1 || tally.SpanNs != int64(42*ms) || tally.FirstDatagrams != 2 || tally.FirstBytes != 20 {
		t.Errorf("%+v, want a jitter of %v ns", tally.udpCount, want)
	}
}

func TestUDPCountCheck(t *testing.T) {
	for name, c := range map[string]udpCount{
		"negative":         {Duplicates: -1},
		"before the first": {AtNs: -1},
		"not yet sent":     {Next: 11},
		"between none":     {Datagrams: 2, Next: 1},
		"more than sent":   {Datagrams: 11},
		"first of none":    {FirstDatagrams: 1},
		"late ones only":   {Datagrams: 1, Reordered: 2, Next: 1},
		"bytes of nothing": {Bytes: 1},
		"no number":        {JitterNs: math.NaN()},
		"endless":          {JitterNs: math.Inf(1)},
	} {
		if c.check(10) == nil {
			t.Errorf("%s is believed", name)
		}
	}
	if err := (udpCount{Datagrams: 9, Bytes: 1000, Duplicates: 100, Next: 10}).check(10); err != nil {
		t.Error(err)
	}
}

func FuzzDatagram(f *testing.F) {
	key := mac{1}
	b := make([]byte, 100)
	newDatagramTag(key).put(b, datagramHeader{seq: 3, sent: 5})
	f.Add(b, 50, 10)
	f.Add(newKnock(sessionID{7}, key), 64, 64)
	tally := newUDPTally() // large: one for all
	f.Fuzz(func(t *testing.T, b []byte, length, bytes int) {
		tally.udpCount = udpCount{}
		r := &udpReceiver{tag: newDatagramTag(key), began: time.Now(), tally: tally, tried: make(chan int, 1)}
		r.message(b, max(len(b), min(length, superBytes)), bytes, 0)
		if c := r.tally.udpCount; c.Datagrams > int64(len(b)/datagramHeaderBytes) {
			t.Errorf("%d datagrams in %d bytes", c.Datagrams, len(b))
		}
		id, ok := knockOf(b)
		if isKnock(b, id, key) && !ok {
			t.Error("a knock that is none")
		}
		parseDelivery(b)
	})
}
