package trace

import "fmt"

// What can limit a test. docs/limited-by.md explains them to users.
const (
	LimitReceiveWindow = "receive-window"
	LimitSendBuffer    = "send-buffer"
	LimitLoss          = "loss"
	LimitRateCap       = "rate-cap"
	LimitFlowCap       = "flow-cap"
	LimitCPU           = "cpu"
	LimitSlowStart     = "slow-start"
	LimitApplication   = "application"
	LimitUnknown       = "unknown"
)

// Facts are what is known of a test besides its samples.
type Facts struct {
	CongestionControl string // as the kernel names it
	MSS               int    // bytes
	Streams           int
	RateBps           float64 // the application was told to offer no more; 0: it was not
	From, To          *Host   // what the machines did; nil where nobody knows
}

// Limit is what held a test's goodput down, and the figures that say so.
type Limit struct {
	By       string // one of the Limit constants
	Evidence string // one line for people: the figures that made it so
}

// criterion names a limit when its figures say so.
type criterion struct {
	by    string
	holds func(v *view) (evidence string, holds bool)
}

// criteria are the decision table: the first that holds names the limit. Their
// order matters. A CPU that is too slow leaves the windows of both kernels in
// any state, so it comes first; windows that are too small leave little for a
// queue to form of, so they come before what the path does, but after a queue
// that is long.
//
// The thresholds were found on lab paths that were made to have each of the
// limits (RTT 1 to 250 ms, 10 to 1000 Mbit/s, loss 0 to 1 %).
var criteria = []criterion{
	{LimitSlowStart, notOver},
	{LimitCPU, busyHost},
	{LimitRateCap, queueBeforeCap},
	{LimitSendBuffer, fullSendBuffer},
	{LimitCPU, idleForWantOfCPU},
	{LimitApplication, nothingToSend},
	{LimitSendBuffer, smallSendBuffer},
	{LimitReceiveWindow, smallReceiveWindow},
	{LimitLoss, heavyLoss},
	{LimitCPU, unevenForWantOfCPU},
	{LimitRateCap, pacedToCap},
	{LimitRateCap, standingQueue},
	{LimitRateCap, evenRate},
	{LimitSlowStart, windowGrows},
	{LimitLoss, anyLoss},
}

// Limit says what limited the test in a part of it, the steady one: the first
// of the criteria that holds.
func (l Log) Limit(p Part, f Facts) Limit {
	v := newView(l, p, f)
	if v == nil {
		return Limit{LimitUnknown, "too few samples"}
	}
	for _, c := range criteria {
		if evidence, holds := c.holds(v); holds {
			return Limit{c.by, evidence}
		}
	}
	return Limit{LimitUnknown, fmt.Sprintf("no standing queue, no retransmits, no window used up, in %.1f s", v.span.Seconds())}
}

func notOver(v *view) (string, bool) {
	return fmt.Sprintf("the rate still grew by a quarter each round trip after %.2f s", v.end().At.Seconds()), !v.part.Over
}

const (
	idleSamples    = .8  // without anything unsent
	idleSendBuffer = .05 // of the time, at most
	sendBufferTime = .1  // it reads 19 to 37 % where the buffer is all that limits
	// A socket takes more bytes only when a third of its buffer is free.
	fullBuffer  = .65
	fullSamples = .5
	receiveTime = .3
	fullWindow  = .9 // of the receiver's window on its way
	// windowRate is how far the rate may be from window / RTT.
	windowRateLow, windowRateHigh = .8, 1.2
)

// A long queue is longer than both, and the rate before it even.
const (
	longQueueMs    = 2.0
	longQueueShare = .25 // of the least round trip
	longQueueEven  = .9
)

// queueBeforeCap: a window that is full all the time, of which a good part stands
// before a link, holds the queue down and not the rate.
func queueBeforeCap(v *view) (string, bool) {
	floor := max(longQueueMs, longQueueShare*v.minRTTMs)
	return fmt.Sprintf("queue of %.3g ms above the least round trip in 90 %% of the samples, more than %.3g ms, and the median rate is %.0f %% of the 95th percentile",
			v.queueLowMs, floor, 100*v.evenness),
		v.queueLowMs > floor && v.evenness >= longQueueEven && len(v.rates) >= fewRounds
}

func nothingToSend(v *view) (string, bool) {
	return fmt.Sprintf("nothing was waiting to be sent in %.0f %% of the samples, the send buffer held back %.0f %% of the time",
		100*v.idle, 100*v.sendBuffer), v.idle >= idleSamples && v.sendBuffer < idleSendBuffer
}

// fullSendBuffer sees what the kernel's own account misses: it counts only time
// that began with a packet sent while the program was waiting.
func fullSendBuffer(v *view) (string, bool) {
	return fmt.Sprintf("what was on its way filled the send buffer, with nothing unsent, in %.0f %% of the samples",
		100*v.bufferFull), v.bufferFull >= fullSamples && v.receiveWindow < receiveTime
}

func smallSendBuffer(v *view) (string, bool) {
	return fmt.Sprintf("the send buffer held back %.0f %% of the time, the receiver's window %.0f %%",
		100*v.sendBuffer, 100*v.receiveWindow), v.sendBuffer >= sendBufferTime && v.receiveWindow < receiveTime
}

// smallReceiveWindow has a second way because the kernel reports only a third
// of the time under BBR.
func smallReceiveWindow(v *view) (string, bool) {
	if v.receiveWindow >= receiveTime {
		return fmt.Sprintf("the receiver's window held back %.0f %% of the time", 100*v.receiveWindow), true
	}
	return fmt.Sprintf("%.0f %% of the receiver's window on its way in a quarter of the samples, and the rate %.2f times window / RTT",
			100*v.windowUse, v.windowRate),
		v.windowUse >= fullWindow && v.windowRate >= windowRateLow && v.windowRate <= windowRateHigh
}

const (
	// bbrLoss of what was sent is beyond what BBR takes without slowing down.
	bbrLoss    = .15
	unevenRate = .8  // of the 95th percentile
	evenEnough = .95 // of the 95th percentile
	// A standing queue is longer than all three.
	queueFloorMs = 1.0
	queueShare   = .03 // of the least round trip
	queuePackets = 5
)

func heavyLoss(v *view) (string, bool) {
	return fmt.Sprintf("%.3g %% of the bytes were sent again, and the median rate is %.0f %% of the 95th percentile",
		100*v.repeated, 100*v.evenness), v.bbr() && v.repeated > bbrLoss && v.evenness < unevenRate
}

// pacedToCap: BBR paces to the rate at which the path delivers, whatever
// makes it so, and does not mind losses up to bbrLoss.
func pacedToCap(v *view) (string, bool) {
	return fmt.Sprintf("bbr paced to %.0f Mbit/s with a queue of %.3g ms above the least round trip; median rate %.0f %% of the 95th percentile, %.3g %% sent again",
		8e-6*v.rate, v.queueMedianMs, 100*v.evenness, 100*v.repeated), v.bbr()
}

func standingQueue(v *view) (string, bool) {
	floor := max(queueFloorMs, queueShare*v.minRTTMs, v.packetsMs(queuePackets))
	return fmt.Sprintf("queue of %.3g ms above the least round trip in 90 %% of the samples, more than %.3g ms",
		v.queueLowMs, floor), v.queueLowMs > floor
}

func evenRate(v *view) (string, bool) {
	return fmt.Sprintf("the median rate of the rounds is %.0f %% of their 95th percentile, without a standing queue",
		100*v.evenness), len(v.rates) >= fewRounds && v.evenness >= evenEnough
}

// windowGrowth over the second half of the steady part.
const windowGrowth = 1.02

func windowGrows(v *view) (string, bool) {
	return fmt.Sprintf("the congestion window grew by %.0f %% in the last half of the steady part, nothing was sent again in it",
		100*(v.growth-1)), v.growth >= windowGrowth && v.repeated == 0
}

func anyLoss(v *view) (string, bool) {
	return fmt.Sprintf("%.3g %% of the bytes were sent again, without a standing queue", 100*v.repeatedOfAll), v.repeatedOfAll > 0
}
