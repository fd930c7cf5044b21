package router

import (
	"time"

	"github.com/antipode-bench/antipode/lab/router/packet"
)

// How late a packet has to be to count: above what a quiet computer does to
// any, below what would show in a measurement.
const (
	lateDatagram = 500 * time.Microsecond
	lateSegment  = 2 * time.Millisecond
)

// Late counts packets that arrived after they were due, because the router, or
// the computer it runs on, was too busy. Where their share is not small, the
// measurements they were part of are not exact.
type Late struct {
	Datagrams int64 `json:"datagrams"` // of UDP, by 0.5 ms and more
	Segments  int64 `json:"segments"`  // of TCP, by 2 ms and more
}

// note counts p if it is late by enough.
func (l *Late) note(p *packet.Packet, late time.Duration) {
	switch {
	case p.Protocol == packet.UDP && late >= lateDatagram:
		l.Datagrams += int64(p.Segments())
	case p.Protocol == packet.TCP && late >= lateSegment:
		l.Segments += int64(p.Segments())
	}
}
