package orchestrator

import (
	"strconv"

	"github.com/antipode-bench/antipode/results"
)

// withSockets is a row with what the sockets of its throughput test were.
func withSockets(r results.Row, w way) results.Row {
	asked, granted := w.throughput.Asked, w.throughput.Granted
	if granted.SendBufferBytes > 0 {
		r.SendBufferBytes = &granted.SendBufferBytes
	}
	if granted.ReceiveWindowBytes > 0 {
		r.ReceiveWindowBytes = &granted.ReceiveWindowBytes
	}
	r.NoDelay, r.DSCP = strconv.FormatBool(granted.NoDelay), whole(granted.DSCP)
	if granted.PacingBps > 0 {
		r.PacingBps = &granted.PacingBps
	}
	if asked.RateBps > 0 {
		r.RateBps = &asked.RateBps
	}
	if asked.ClientPort > 0 {
		r.ClientPort = whole(asked.ClientPort)
	}
	if w.together {
		return flagged(r, []string{results.FlagBidirectional})
	}
	return r
}
