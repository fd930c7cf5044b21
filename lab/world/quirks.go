package world

import "time"

// Allowance is what a machine's rates are like beyond their height. All of it
// is optional, and holds for each direction by itself.
type Allowance struct {
	// BaselineBps is what the machine gets in the long run, beside the rate that
	// it may burst to: a token bucket of BurstBytes, full at the beginning, pays
	// for all that it sends or receives and is filled at this rate. What is
	// dropped costs nothing.
	BaselineBps float64 `yaml:"baseline_bps,omitempty"`
	BurstBytes  float64 `yaml:"burst_bytes,omitempty"`

	QueueMs float64 `yaml:"queue_ms,omitempty"` // of the machine's link; 0: 100 ms, and 64 KiB at least
}

// Quirks are what a path does to packets besides delaying and losing them. All
// are optional.
type Quirks struct {
	// LossBurst is how many segments are lost in a row, on average: the model of
	// Gilbert and Elliott with a bad state that loses everything. The loss ratio
	// stays what it is. With 0 and 1 losses are independent of each other.
	LossBurst float64 `yaml:"loss_burst,omitempty"`

	// A segment in ReorderRatio is held back for so long after its delay, and
	// later ones overtake it.
	ReorderRatio float64 `yaml:"reorder_ratio,omitempty"`
	ReorderMs    float64 `yaml:"reorder_ms,omitempty"`

	DuplicateRatio float64 `yaml:"duplicate_ratio,omitempty"` // of segments, delivered twice in a row

	QueueMs float64 `yaml:"queue_ms,omitempty"` // before the flow's cap; 0: a round trip, and 100 ms at least

	// A policer drops what is above its rate, of all flows together, and has no
	// queue. It lets bursts of PoliceBurstBytes pass; 0: 20 ms at the rate, and
	// 15,000 at least.
	PoliceBps        float64 `yaml:"police_bps,omitempty"`
	PoliceBurstBytes float64 `yaml:"police_burst_bytes,omitempty"`

	// Larger packets than MTUBytes, from the IP header on, are dropped if they
	// must not be fragmented, and pass otherwise; those of IPv6 only above 1280
	// bytes, which every link has to carry. With MTUICMP the sender is told (RFC
	// 1191, RFC 8201). 0 is no limit.
	MTUBytes int  `yaml:"mtu_bytes,omitempty"`
	MTUICMP  bool `yaml:"mtu_icmp,omitempty"`
}

// Defaults of a policer's burst.
const (
	policeBurst         = 20 * time.Millisecond
	minPoliceBurstBytes = 15_000
)

// PoliceBurst is how many bytes the policer lets pass at once.
func (q Quirks) PoliceBurst() float64 {
	if q.PoliceBurstBytes > 0 {
		return q.PoliceBurstBytes
	}
	return max(minPoliceBurstBytes, q.PoliceBps/8*policeBurst.Seconds())
}

// minMTUBytes is IPv4's (RFC 791).
const minMTUBytes = 68

func (p *parser) checkAllowance(of any, a Allowance, rates ...float64) {
	p.within(of, "baseline_bps", a.BaselineBps, 0, maxBps)
	p.within(of, "burst_bytes", a.BurstBytes, 0, maxBytes)
	p.within(of, "queue_ms", a.QueueMs, 0, maxDelayMs)
	p.want((a.BaselineBps > 0) == (a.BurstBytes > 0), of, "baseline_bps and burst_bytes need each other")
	for _, bps := range rates {
		p.want(a.BaselineBps == 0 || a.BaselineBps <= bps, of, "baseline_bps %v is above a rate, %v", a.BaselineBps, bps)
	}
}

func (p *parser) checkQuirks(of *Pair) {
	q := of.Quirks
	p.within(of, "loss_burst", q.LossBurst, 0, 1e6)
	p.within(of, "reorder_ratio", q.ReorderRatio, 0, 1)
	p.within(of, "reorder_ms", q.ReorderMs, 0, maxDelayMs)
	p.within(of, "duplicate_ratio", q.DuplicateRatio, 0, 1)
	p.within(of, "queue_ms", q.QueueMs, 0, maxDelayMs)
	p.within(of, "police_bps", q.PoliceBps, 0, maxBps)
	p.within(of, "police_burst_bytes", q.PoliceBurstBytes, 0, maxBytes)
	p.want(q.LossBurst <= 1 || of.LossRatio == nil || *of.LossRatio <= 0.5, of, "loss_burst needs a loss_ratio of at most 0.5")
	p.want((q.ReorderRatio > 0) == (q.ReorderMs > 0), of, "reorder_ratio and reorder_ms need each other")
	p.want(q.PoliceBurstBytes == 0 || q.PoliceBps > 0, of, "police_burst_bytes needs police_bps")
	p.want(q.MTUBytes == 0 || q.MTUBytes >= minMTUBytes && q.MTUBytes <= 65535, of, "mtu_bytes %d is outside %d to 65535", q.MTUBytes, minMTUBytes)
	p.want(!q.MTUICMP || q.MTUBytes > 0, of, "mtu_icmp needs mtu_bytes")
}
