package trace

import (
	"slices"
	"strings"
	"time"
)

// view is what the criteria look at: the figures of a test's steady part. Shares
// are 0 to 1.
type view struct {
	Facts
	log  Log
	part Part
	span time.Duration

	idle          float64 // of the samples: nothing unsent
	sendBuffer    float64 // of the time: held back by it
	bufferFull    float64 // of the samples: nothing unsent, and what is on its way fills the send buffer
	receiveWindow float64 // of the time: held back by it
	windowUse     float64 // 75th percentile of what is on its way / the receiver's window
	windowRate    float64 // rate / (window / smoothed RTT)
	repeated      float64 // of the bytes sent in the part
	repeatedOfAll float64 // of the bytes sent in the whole test
	growth        float64 // of the congestion window, from the middle of the part to its end

	rate          float64   // bytes per second
	rates         []float64 // of the rounds, sorted
	evenness      float64   // median / 95th percentile of them
	minRTTMs      float64   // least of the test
	queueLowMs    float64   // 10th percentile of srtt - least round trip
	queueMedianMs float64
}

// minSamples of a steady part that are worth looking at.
const minSamples = 5

func newView(l Log, p Part, f Facts) *view {
	if len(l) == 0 {
		return nil
	}
	v := &view{Facts: f, log: l, part: p, span: l[p.To].At - l[p.From].At}
	if p.To-p.From < minSamples || v.span <= 0 {
		return nil
	}
	v.rate = l.Rate(p.From, p.To)
	v.fillTimes()
	v.fillWindows()
	v.fillRates()
	v.fillQueue()
	return v
}

func (v *view) steady() Log    { return v.log[v.part.From : v.part.To+1] }
func (v *view) begin() *Sample { return &v.log[v.part.From] }
func (v *view) end() *Sample   { return &v.log[v.part.To] }

// bbr is true for all of its versions.
func (v *view) bbr() bool { return strings.HasPrefix(v.CongestionControl, "bbr") }

// packetsMs is how long the path takes for n packets.
func (v *view) packetsMs(n int) float64 {
	if v.rate <= 0 {
		return 0
	}
	return 1000 * float64(n*v.MSS) / v.rate
}

func (v *view) fillTimes() {
	begin, end := v.begin(), v.end()
	v.sendBuffer = float64(end.SendBufferFor-begin.SendBufferFor) / float64(v.span)
	v.receiveWindow = float64(end.ReceiveWindowFor-begin.ReceiveWindowFor) / float64(v.span)
	// Less than a segment of each stream waits for the rest of it, or for an
	// acknowledgement (RFC 896), but for no window.
	segments := int64(max(1, v.MSS*v.Streams))
	var idle, full int64
	for _, s := range v.steady() {
		if s.Unsent >= segments {
			continue
		}
		idle++
		if s.SendBuffer > 0 && float64(s.Unacked) >= fullBuffer*float64(s.SendBuffer) {
			full++
		}
	}
	n := int64(len(v.steady()))
	v.idle, v.bufferFull = ratio(idle, n), ratio(full, n)
}

func (v *view) fillWindows() {
	begin, end := v.begin(), v.end()
	v.repeated = ratio(end.Repeated-begin.Repeated, end.Sent-begin.Sent)
	last := v.log[len(v.log)-1]
	v.repeatedOfAll = ratio(last.Repeated, last.Sent)
	mid := v.log[(v.part.From+v.part.To)/2]
	v.growth = ratio(end.Window, mid.Window)
	var use, rate []float64
	for _, s := range v.steady() {
		if s.PeerWindow > 0 {
			use = append(use, ratio(s.Unacked, s.PeerWindow))
			rate = append(rate, v.rate*s.SRTT.Seconds()/float64(s.PeerWindow))
		}
	}
	v.windowUse, v.windowRate = quantile(use, .75), quantile(rate, .5)
}

func (v *view) fillRates() {
	for to := v.part.To; to > v.part.From; {
		from := v.log.Before(to, 1)
		if from < v.part.From || from == to {
			break
		}
		v.rates = append(v.rates, v.log.Rate(from, to))
		to = from
	}
	v.evenness = 0
	if high := quantile(v.rates, .95); high > 0 {
		v.evenness = quantile(v.rates, .5) / high
	}
}

func (v *view) fillQueue() {
	least := v.log.MinRTT()
	v.minRTTMs = milliseconds(least)
	var queue []float64
	for _, s := range v.steady() {
		queue = append(queue, milliseconds(s.SRTT-least))
	}
	v.queueLowMs, v.queueMedianMs = quantile(queue, .1), quantile(queue, .5)
}

// MinRTT is the least round trip that the kernel saw in the test; 0 if none.
func (l Log) MinRTT() (least time.Duration) {
	for _, s := range l {
		if s.MinRTT > 0 && (least == 0 || s.MinRTT < least) {
			least = s.MinRTT
		}
	}
	return least
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func ratio(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// quantile sorts the values and interpolates between the neighbours of
// q*(n-1); 0 without values.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	at := q * float64(len(values)-1)
	low := int(at)
	high := min(low+1, len(values)-1)
	return values[low] + (at-float64(low))*(values[high]-values[low])
}

// usualWindow leaves out what a buffer held for a moment only, in growing.
const usualWindow = .9

// WindowCeiling is the highest rate, in bytes per second, that the windows
// allowed in a part of the test: the smaller of the largest window that the
// receiver offered and of what the send buffers hold, over the least round trip.
// What was on its way at once in a tenth of the samples had room, so it is a
// lower bound of the window. 0 if the kernel said too little. Source of the formula: RFC 7323,
// section 1.1.
func (l Log) WindowCeiling(p Part) float64 {
	if len(l) == 0 {
		return 0
	}
	var offered, held int64
	var sent []float64
	for _, s := range l[p.From : p.To+1] {
		offered, held = max(offered, s.PeerWindow), max(held, s.SendBuffer)
		sent = append(sent, float64(s.Unacked))
	}
	window := offered
	if held > 0 {
		window = min(window, held)
	}
	window = max(window, int64(quantile(sent, usualWindow)))
	least := l.MinRTT()
	if least <= 0 {
		return 0
	}
	return float64(window) / least.Seconds()
}
