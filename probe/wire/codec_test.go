package wire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestRoundTrip(t *testing.T) {
	want := []Request{
		{ID: 1, Serve: &Serve{Secret: bytes.Repeat([]byte{7}, SecretBytes), Port: DefaultPort}},
		{ID: 2, RTT: &RTT{Peer: Peer{Addr: "198.18.0.1", Port: 1}, Probes: 3, IntervalMs: .5, WaitMs: 1, DeadlineMs: 9}},
		{ID: math.MaxUint64, Cancel: &Cancel{ID: 2}},
	}
	var buf bytes.Buffer
	w := NewWriter(&buf)
	for _, req := range want {
		if err := w.Write(req); err != nil {
			t.Fatal(err)
		}
	}
	var got []Request
	r := NewReader(iotest.OneByteReader(&buf))
	for {
		var req Request
		err := r.Read(&req)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, req)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestReadRefuses(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"empty line", "\n", "not a JSON object"},
		{"no object", "[1]\n", "not a JSON object"},
		{"null", "null\n", "not a JSON object"},
		{"unknown field", `{"id":1,"rt":{}}` + "\n", `unknown field "rt"`},
		{"two messages", `{"id":1}{"id":2}` + "\n", "something follows"},
		{"wrong type", `{"id":-1}` + "\n", "cannot unmarshal"},
		{"cut short", `{"id":1`, "unexpected EOF"},
		{"too long", `{"id":1` + strings.Repeat(" ", MaxLine) + "}\n", "too long"},
		{"endless", strings.Repeat("x", 2*MaxLine), "too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := NewReader(strings.NewReader(tt.line)).Read(new(Request))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestReadGoesOnAfterSyntaxError(t *testing.T) {
	r := NewReader(strings.NewReader("nonsense\n{\"id\":5}\n"))
	var syntax *SyntaxError
	if err := r.Read(new(Request)); !errors.As(err, &syntax) || string(syntax.Line) != "nonsense" {
		t.Fatalf("Read = %v, want a SyntaxError with the line", err)
	}
	var req Request
	if err := r.Read(&req); err != nil || req.ID != 5 {
		t.Errorf("Read = %v, ID %d; want 5", err, req.ID)
	}
}

func TestWriteRefuses(t *testing.T) {
	var buf bytes.Buffer
	if err := NewWriter(&buf).Write(RTTResult{MeanMs: math.NaN()}); err == nil {
		t.Error("NaN was written")
	}
	if err := NewWriterSize(&buf, 16).Write(Hello{}); !errors.Is(err, ErrTooLong) {
		t.Errorf("Write = %v, want ErrTooLong", err)
	}
	if buf.Len() > 0 {
		t.Errorf("wrote %q", buf.String())
	}
}

func TestValidate(t *testing.T) {
	peer := Peer{Addr: "10.0.0.1", Port: DefaultPort}
	rtt := func(change func(*RTT)) *Request {
		r := &RTT{Peer: peer, Probes: 10, IntervalMs: 10, WaitMs: 100, DeadlineMs: 1000}
		change(r)
		return &Request{RTT: r}
	}
	tput := func(change func(*Throughput)) *Request {
		r := &Throughput{Peer: peer, DurationMs: 1000, Streams: 1, DeadlineMs: 2000}
		change(r)
		return &Request{Throughput: r}
	}
	udp := func(change func(*UDP)) *Request {
		r := &UDP{Peer: peer, RateBps: 1e6, DurationMs: 1000, DeadlineMs: 2000}
		change(r)
		return &Request{UDP: r}
	}
	tests := []struct {
		name string
		req  *Request
		want string // empty: valid
	}{
		{"nothing asked", &Request{}, "asks 0 things"},
		{"two things asked", &Request{Cancel: &Cancel{}, RTT: &RTT{}}, "asks 2 things"},
		{"cancel", &Request{Cancel: &Cancel{ID: 1}}, ""},
		{"short secret", &Request{Serve: &Serve{Secret: []byte("x")}}, "secret of 1 bytes"},
		{"port", &Request{Serve: &Serve{Secret: make([]byte, 32), Port: 65536}}, "port 65536"},
		{"rtt", rtt(func(*RTT) {}), ""},
		{"rtt to IPv6", rtt(func(r *RTT) { r.Peer.Addr = "2001:db8::1" }), ""},
		{"rtt to a name", rtt(func(r *RTT) { r.Peer.Addr = "host" }), `addr "host"`},
		{"rtt to nowhere", rtt(func(r *RTT) { r.Peer.Addr = "0.0.0.0" }), `addr "0.0.0.0"`},
		{"rtt to port 0", rtt(func(r *RTT) { r.Peer.Port = 0 }), "port 0"},
		{"no probes", rtt(func(r *RTT) { r.Probes = 0 }), "probes 0"},
		{"too many probes", rtt(func(r *RTT) { r.Probes = MaxProbes + 1 }), "probes 100001"},
		{"flood", rtt(func(r *RTT) { r.IntervalMs = 0 }), "interval_ms 0"},
		{"no number", rtt(func(r *RTT) { r.WaitMs = math.NaN() }), "wait_ms NaN"},
		{"no deadline", rtt(func(r *RTT) { r.DeadlineMs = 0 }), "deadline_ms 0"},
		{"udp", udp(func(*UDP) {}), ""},
		{"udp as fast as it goes", udp(func(r *UDP) { r.RateBps = 0 }), ""},
		{"udp to a name", udp(func(r *UDP) { r.Peer.Addr = "host" }), `addr "host"`},
		{"udp backwards", udp(func(r *UDP) { r.RateBps = -1 }), "rate_bps -1"},
		{"udp at no rate", udp(func(r *UDP) { r.RateBps = math.NaN() }), "rate_bps NaN"},
		{"udp in crumbs", udp(func(r *UDP) { r.DatagramBytes = 23 }), "datagram_bytes 23"},
		{"udp in lumps", udp(func(r *UDP) { r.DatagramBytes = 65508 }), "datagram_bytes 65508"},
		{"udp without end", udp(func(r *UDP) { r.DurationMs = 0 }), "neither bytes nor duration_ms"},
		{"udp of nothing", udp(func(r *UDP) { r.Bytes = -1 }), "bytes -1"},
		{"udp for ever", udp(func(r *UDP) { r.DeadlineMs = math.Inf(1) }), "deadline_ms +Inf"},
		{"throughput", tput(func(*Throughput) {}), ""},
		{"no limit", tput(func(r *Throughput) { r.DurationMs = 0 }), "neither bytes nor duration_ms"},
		{"negative bytes", tput(func(r *Throughput) { r.Bytes = -1 }), "bytes -1"},
		{"no streams", tput(func(r *Throughput) { r.Streams = 0 }), "streams 0"},
		{"too many streams", tput(func(r *Throughput) { r.Streams = 129 }), "streams 129"},
		{"endless", tput(func(r *Throughput) { r.DeadlineMs = math.Inf(1) }), "deadline_ms +Inf"},
		{"loaded", tput(func(r *Throughput) { r.LoadedIntervalMs = 20 }), ""},
		{"flood beside it", tput(func(r *Throughput) { r.LoadedIntervalMs = .5 }), "loaded_interval_ms 0.5"},
		{"backward baseline", tput(func(r *Throughput) { r.BaselineBps = -1 }), "baseline_bps -1"},
		{"options", tput(func(r *Throughput) {
			r.Options = TCPOptions{1 << 20, 1 << 20, 1400, true, 63, 1e9, 1e9, 65535}
		}), ""},
		{"small buffer", tput(func(r *Throughput) { r.Options.SendBufferBytes = 1 }), "send_buffer_bytes 1"},
		{"negative window", tput(func(r *Throughput) { r.Options.ReceiveWindowBytes = -1 }), "receive_window_bytes -1"},
		{"segment", tput(func(r *Throughput) { r.Options.MSSBytes = 65535 }), "mss_bytes 65535"},
		{"mark", tput(func(r *Throughput) { r.Options.DSCP = 64 }), "dscp 64"},
		{"pacing", tput(func(r *Throughput) { r.Options.PacingBps = math.NaN() }), "pacing_bps NaN"},
		{"rate", tput(func(r *Throughput) { r.Options.RateBps = math.Inf(1) }), "rate_bps +Inf"},
		{"ports", tput(func(r *Throughput) { r.Streams, r.Options.ClientPort = 2, 65535 }), "client_port 65535"},
		{"long name", tput(func(r *Throughput) { r.CongestionControl = "a-very-long-name" }), "congestion_control"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.req.Validate()
			if tt.want == "" && err != nil {
				t.Errorf("Validate = %v", err)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Validate = %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("{\"id\":1,\"cancel\":{\"id\":2}}\n{\"id\":3}\n"))
	f.Add([]byte("{\"id\":1,\"serve\":{\"secret\":\"AAAA\",\"port\":1}}\nx\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReaderSize(bytes.NewReader(data), 256)
		for {
			var req Request
			err := r.Read(&req)
			var syntax *SyntaxError
			if errors.As(err, &syntax) {
				continue
			}
			if err != nil {
				return
			}
			var buf bytes.Buffer
			if err := NewWriter(&buf).Write(req); err != nil {
				t.Fatalf("write what was read: %v", err)
			}
			var again Request
			if err := NewReader(&buf).Read(&again); err != nil || !cmp.Equal(req, again) {
				t.Fatalf("%+v became %+v, %v", req, again, err)
			}
			_ = req.Validate()
		}
	})
}
