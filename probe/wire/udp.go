package wire

import (
	"errors"
	"fmt"
)

// Limits of a UDP throughput test.
const (
	MinDatagramBytes = 24    // what the probe writes into each
	MaxDatagramBytes = 65507 // of UDP over IPv4
	MinRateBps       = 1e3
	MaxRateBps       = 1e13
)

// UDP sends datagrams from the asked agent to Peer, unasked for again where they
// get lost. It ends after Bytes or DurationMs, whichever is set (both: whichever
// comes first).
type UDP struct {
	Peer          Peer    `json:"peer"`
	RateBps       float64 `json:"rate_bps,omitempty"`       // bit/s of UDP payload, MinRateBps or more; 0: as fast as it goes
	DatagramBytes int     `json:"datagram_bytes,omitempty"` // of UDP payload, 24 to 65,507; 0: what fits the path, at most 1448
	Bytes         int64   `json:"bytes,omitempty"`          // of UDP payload
	DurationMs    float64 `json:"duration_ms,omitempty"`
	Offload       bool    `json:"offload,omitempty"`   // segmentation offload at both ends, if both have it
	DeadlineMs    float64 `json:"deadline_ms"`         // for everything, hard; at most an hour
	SampleMs      float64 `json:"sample_ms,omitempty"` // between the samples in the result; 0: none are wanted
}

// UDPResult is what the receiver counted: each datagram once, by the time of the
// first arrival to the last.
type UDPResult struct {
	TargetBps     float64     `json:"target_bps"`     // asked for; 0: as fast as it goes
	GoodputBps    float64     `json:"goodput_bps"`    // bit/s of UDP payload
	PacketsPerS   float64     `json:"packets_per_s"`  // datagrams received
	DatagramBytes int         `json:"datagram_bytes"` // UDP payload of each
	Sent          int64       `json:"sent"`           // datagrams, by the sender's count
	Received      int64       `json:"received"`       // distinct ones
	LossRatio     float64     `json:"loss_ratio"`     // (sent - received) / sent, 0 to 1
	Reordered     int64       `json:"reordered"`      // came after one sent later (RFC 4737)
	Duplicates    int64       `json:"duplicates"`     // came again
	JitterMs      float64     `json:"jitter_ms"`      // at the end, RFC 3550; with offload between messages, not datagrams
	Bytes         int64       `json:"bytes"`          // UDP payload received
	DurationS     float64     `json:"duration_s"`     // first arrival to last
	Offload       bool        `json:"offload"`        // segmentation offload was used at both ends
	Flags         []string    `json:"flags,omitempty"`
	Samples       []UDPSample `json:"samples,omitempty"` // in the course of the test, the last one at its end
}

// UDPSample is what had become of the datagrams by a moment: the receiver's
// counts, and the sender's as long after its first datagram.
type UDPSample struct {
	AtUs          int64 `json:"at_us"` // since the first arrival
	Sent          int64 `json:"sent"`
	Received      int64 `json:"received"`       // distinct ones
	ReceivedBytes int64 `json:"received_bytes"` // UDP payload
	Lost          int64 `json:"lost"`           // not there though a later one was
	Reordered     int64 `json:"reordered"`
	Duplicates    int64 `json:"duplicates"`
	JitterUs      int64 `json:"jitter_us"` // RFC 3550
}

// Validate says what is wrong with u.
func (u *UDP) Validate() error {
	if err := u.Peer.Validate(); err != nil {
		return fmt.Errorf("udp: %w", err)
	}
	switch {
	case u.Bytes < 0 || u.Bytes > MaxBytes:
		return fmt.Errorf("udp: bytes %d, want 0 to %d", u.Bytes, int64(MaxBytes))
	case u.Bytes == 0 && u.DurationMs == 0:
		return errors.New("udp: neither bytes nor duration_ms is set")
	case u.DatagramBytes != 0 && (u.DatagramBytes < MinDatagramBytes || u.DatagramBytes > MaxDatagramBytes):
		return fmt.Errorf("udp: datagram_bytes %d, want %d to %d", u.DatagramBytes, MinDatagramBytes, MaxDatagramBytes)
	case u.RateBps != 0 && !(u.RateBps >= MinRateBps && u.RateBps <= MaxRateBps):
		return fmt.Errorf("udp: rate_bps %v, want %v to %v, or 0", u.RateBps, MinRateBps, MaxRateBps)
	}
	return errors.Join(
		within("udp: sample_ms", u.SampleMs, 0, MaxDeadlineMs),
		within("udp: duration_ms", u.DurationMs, 0, MaxDeadlineMs),
		within("udp: deadline_ms", u.DeadlineMs, 1, MaxDeadlineMs))
}
