package orchestrator

import (
	"math"
	"sync"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/results"
)

// ledger counts what a run uses of the clouds, by what its journal says: so a
// resume counts what was used before it. It is safe for concurrent use.
type ledger struct {
	mu      sync.Mutex
	rates   plan.Rates
	regions map[string]antipode.Region
	there   map[string]*stay // by region id: machines that cost
	gone    []stay
	sent    map[direction]float64 // bytes
	assumed float64               // of these, bytes that nobody counted
	dataUSD float64
}

// stay is the life of a region's machine, and of those that replaced it.
type stay struct {
	region, machineType string
	made                bool // the cloud said so
	lent                bool // and nobody sends a bill for it
	from, to            time.Time
}

// least is what clouds charge at least for a machine: a minute, then by the second.
const least = time.Minute

func (s stay) hours(now time.Time) float64 {
	to := s.to
	if to.IsZero() {
		to = now
	}
	return max(least, to.Sub(s.from)).Hours()
}

func newLedger(rates plan.Rates, pairs []plan.Pair) *ledger {
	l := &ledger{rates: rates, regions: map[string]antipode.Region{}, there: map[string]*stay{}, sent: map[direction]float64{}}
	for _, r := range plan.RegionsOf(pairs) {
		l.regions[r.ID()] = r
	}
	return l
}

// enter takes what a record says of machines and data.
func (l *ledger) enter(r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r.What {
	case RecordLaunch:
		if l.there[r.Region] == nil {
			l.there[r.Region] = &stay{region: r.Region, machineType: r.MachineType, from: r.Time}
		}
	case RecordLaunched:
		if s := l.there[r.Region]; s != nil && r.Machine != nil {
			s.machineType, s.made, s.lent = r.Machine.Type, true, r.Machine.Lent
		}
	case RecordLost:
		if s := l.there[r.Region]; s != nil && !s.made && r.Machine == nil {
			delete(l.there, r.Region) // no machine came of it
		}
	case RecordDestroyed:
		if r.Error == "" && len(r.Left) == 0 {
			l.leave(r.Cloud, r.Time)
		}
	case RecordRTT, RecordThroughput:
		l.measured(r)
	}
}

// leave ends the stays in a cloud.
func (l *ledger) leave(cloud string, at time.Time) {
	for id, s := range l.there {
		if in, _, _ := antipode.SplitID(id); in == cloud {
			s.to = at
			l.gone = append(l.gone, *s)
			delete(l.there, id)
		}
	}
}

func (l *ledger) measured(r Record) {
	way := direction{r.From, r.To}
	forth, back := traffic(r)
	l.send(way, forth)
	l.send(direction{way.to, way.from}, back)
	l.send(way, float64(r.Assumed))
	l.assumed += float64(r.Assumed)
}

func (l *ledger) send(way direction, bytes float64) {
	if bytes <= 0 {
		return
	}
	l.sent[way] += bytes
	l.dataUSD += l.price(way, bytes)
}

// price is what bytes cost that go that way.
func (l *ledger) price(way direction, bytes float64) float64 {
	return l.rates.SentUSD(plan.Pair{From: l.regions[way.from], To: l.regions[way.to]}, bytes)
}

// usd is what the run has cost so far.
func (l *ledger) usd(now time.Time) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	usd := l.dataUSD
	for _, s := range l.stays() {
		usd += s.hours(now) * l.perHour(s)
	}
	return usd
}

// hourUSD is what the machines that are there cost in an hour.
func (l *ledger) hourUSD() (usd float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.there {
		usd += l.perHour(*s)
	}
	return usd
}

func (l *ledger) perHour(s stay) float64 {
	if s.lent {
		return 0
	}
	return l.rates.HourUSD(l.regions[s.region], s.machineType)
}

// atLeast makes good for records that a crash took: what a row says was received
// was sent.
func (l *ledger) atLeast(rows []results.Row) {
	received := map[direction]float64{}
	for _, r := range rows {
		if r.Bytes != nil {
			received[direction{r.FromCloud + ":" + r.FromRegion, r.ToCloud + ":" + r.ToRegion}] += float64(*r.Bytes)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for way, bytes := range received {
		l.send(way, bytes-l.sent[way])
	}
}

// Headers of what is sent, in bytes: clouds charge for those too.
const (
	tcpHeaders = 20 + 32 // IPv4, TCP with timestamps
	udpHeaders = 20 + 8
	probeBytes = 64 + udpHeaders // of a round trip's query, and of its answer
)

// traffic is what a test sent each way, in bytes of IP: payload, repeats,
// headers, and an acknowledgement for each two segments.
func traffic(r Record) (forth, back float64) {
	for _, rtt := range []*wire.RTTResult{r.RTT, r.Loaded} {
		if rtt != nil {
			forth += float64(rtt.Probes) * probeBytes
			back += float64(rtt.Received) * probeBytes
		}
	}
	if t := r.Throughput; t != nil {
		bytes := float64(t.Bytes) / (1 - min(t.RetransmitRatio, .99))
		if t.FlowCheck != nil {
			bytes += float64(t.FlowCheck.Bytes)
		}
		segments := math.Ceil(bytes / float64(max(t.MSSBytes, 1)))
		forth += bytes + segments*tcpHeaders
		back += segments / 2 * tcpHeaders
	}
	if u := r.UDP; u != nil {
		forth += float64(u.Sent) * float64(u.DatagramBytes+udpHeaders)
	}
	return forth, back
}
