package wire

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Limits of what one request may ask for.
const (
	SecretBytes   = 32
	MaxProbes     = 100_000
	MaxStreams    = 128
	MinIntervalMs = 0.1       // between RTT probes
	MaxDeadlineMs = 3_600_000 // of one test
	MaxBytes      = 1 << 50   // of one test: more than an hour of 2 Tbit/s
	MinErrorRatio = 0.005     // of a throughput test that ends by itself
	MaxErrorRatio = 0.5
	maxNameBytes  = 15 // TCP_CA_NAME_MAX less the final zero
)

// Duration converts the milliseconds of a message.
func Duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// Validate says what is wrong with a request, naming the field.
func (r *Request) Validate() error {
	var asks []interface{ Validate() error }
	if r.Serve != nil {
		asks = append(asks, r.Serve)
	}
	if r.RTT != nil {
		asks = append(asks, r.RTT)
	}
	if r.Throughput != nil {
		asks = append(asks, r.Throughput)
	}
	if r.UDP != nil {
		asks = append(asks, r.UDP)
	}
	if r.Cancel != nil {
		asks = append(asks, r.Cancel)
	}
	if r.Alive != nil {
		asks = append(asks, r.Alive)
	}
	if len(asks) != 1 {
		return fmt.Errorf("request asks %d things, want exactly one of serve, rtt, throughput, udp, cancel, alive", len(asks))
	}
	return asks[0].Validate()
}

// Validate says what is wrong with s.
func (s *Serve) Validate() error {
	if len(s.Secret) != SecretBytes {
		return fmt.Errorf("serve: secret of %d bytes, want %d", len(s.Secret), SecretBytes)
	}
	if s.Port < 0 || s.Port > 65535 {
		return fmt.Errorf("serve: port %d, want 0 to 65535", s.Port)
	}
	return nil
}

// Validate says what is wrong with p.
func (p Peer) Validate() error {
	a, err := netip.ParseAddr(p.Addr)
	if err != nil || a.IsUnspecified() || a.IsMulticast() {
		return fmt.Errorf("peer: addr %q is not the IP address of a machine", p.Addr)
	}
	if p.Port < 1 || p.Port > 65535 {
		return fmt.Errorf("peer: port %d, want 1 to 65535", p.Port)
	}
	return nil
}

// Validate says what is wrong with r.
func (r *RTT) Validate() error {
	if err := r.Peer.Validate(); err != nil {
		return fmt.Errorf("rtt: %w", err)
	}
	if r.Probes < 1 || r.Probes > MaxProbes {
		return fmt.Errorf("rtt: probes %d, want 1 to %d", r.Probes, MaxProbes)
	}
	return errors.Join(
		within("rtt: interval_ms", r.IntervalMs, MinIntervalMs, MaxDeadlineMs),
		within("rtt: wait_ms", r.WaitMs, 0, MaxDeadlineMs),
		within("rtt: deadline_ms", r.DeadlineMs, 1, MaxDeadlineMs))
}

// Validate says what is wrong with t.
func (t *Throughput) Validate() error {
	if err := t.Peer.Validate(); err != nil {
		return fmt.Errorf("throughput: %w", err)
	}
	return t.ValidateTest()
}

// ValidateTest says what is wrong with t but for its Peer, which a peer that is
// told to send has no use for.
func (t *Throughput) ValidateTest() error {
	switch {
	case t.Bytes < 0 || t.Bytes > MaxBytes:
		return fmt.Errorf("throughput: bytes %d, want 0 to %d", t.Bytes, int64(MaxBytes))
	case t.Bytes == 0 && t.DurationMs == 0:
		return errors.New("throughput: neither bytes nor duration_ms is set")
	case t.Streams < 1 || t.Streams > MaxStreams:
		return fmt.Errorf("throughput: streams %d, want 1 to %d", t.Streams, MaxStreams)
	case t.FlowCheck && (t.Streams != 1 || t.Reverse):
		return errors.New("throughput: flow_check is for one stream that the asked agent sends")
	case len(t.CongestionControl) > maxNameBytes:
		return fmt.Errorf("throughput: congestion_control %.40q is no kernel's name", t.CongestionControl)
	}
	if t.ErrorRatio != 0 {
		if err := within("throughput: error_ratio", t.ErrorRatio, MinErrorRatio, MaxErrorRatio); err != nil {
			return err
		}
	}
	if t.LoadedIntervalMs != 0 {
		if err := within("throughput: loaded_interval_ms", t.LoadedIntervalMs, 1, MaxDeadlineMs); err != nil {
			return err
		}
	}
	return errors.Join(t.Options.Validate(t.Streams),
		within("throughput: duration_ms", t.DurationMs, 0, MaxDeadlineMs),
		within("throughput: baseline_bps", t.BaselineBps, 0, MaxRateBps),
		within("throughput: sample_ms", t.SampleMs, 0, MaxDeadlineMs),
		within("throughput: deadline_ms", t.DeadlineMs, 1, MaxDeadlineMs))
}

// Validate says what is wrong with c.
func (c *Cancel) Validate() error { return nil }

// Validate says what is wrong with a.
func (a *Alive) Validate() error { return nil }

// within is false for NaN too.
func within(name string, v, low, high float64) error {
	if v >= low && v <= high {
		return nil
	}
	return fmt.Errorf("%s %v, want %v to %v", name, v, low, high)
}
