package trace

import (
	"encoding/json"
	"fmt"
	"time"
)

// Sample is what the sender's kernel said (TCP_INFO) at one moment, of one
// stream or of all streams of a test added up. Bytes are TCP payload, and all
// counts begin with the first payload byte.
type Sample struct {
	At       time.Duration // since the start
	Acked    int64         // bytes acknowledged in order
	Sacked   int64         // bytes acknowledged beyond a hole, to a segment
	Sent     int64         // bytes, repeats included
	Repeated int64         // of these bytes, those sent again

	SRTT       time.Duration // smoothed round trip under load; mean of the streams
	MinRTT     time.Duration // least round trip that the kernel remembers; of the streams
	Window     int64         // bytes of congestion window
	PeerWindow int64         // bytes of window that the receiver offers
	Unacked    int64         // bytes on their way
	Unsent     int64         // bytes in the send buffer that were never sent
	SendBuffer int64         // bytes of payload that the send buffers hold at most

	// Shares of the time since the start in which there was something to send;
	// means of the streams.
	Busy             time.Duration // data on their way or waiting
	ReceiveWindowFor time.Duration // held back by the receiver's window
	SendBufferFor    time.Duration // held back by too small a send buffer

	Fed   bool // every stream has more to send
	Whole bool // no stream has a hole, or repairs one
}

// Arrived is how many bytes have arrived, in order or not.
func (s *Sample) Arrived() int64 { return s.Acked + s.Sacked }

// field is a column of a sample: its name with its unit, and its place.
type field struct {
	name string
	get  func(*Sample) int64
	set  func(*Sample, int64)
}

func bytesField(name string, at func(*Sample) *int64) field {
	return field{name, func(s *Sample) int64 { return *at(s) }, func(s *Sample, v int64) { *at(s) = v }}
}

func timeField(name string, at func(*Sample) *time.Duration) field {
	return field{name,
		func(s *Sample) int64 { return at(s).Microseconds() },
		func(s *Sample, v int64) { *at(s) = time.Duration(v) * time.Microsecond }}
}

func boolField(name string, at func(*Sample) *bool) field {
	return field{name,
		func(s *Sample) int64 {
			if *at(s) {
				return 1
			}
			return 0
		},
		func(s *Sample, v int64) { *at(s) = v != 0 }}
}

// fields are the columns in the order in which a sample is written.
var fields = []field{
	timeField("at_us", func(s *Sample) *time.Duration { return &s.At }),
	bytesField("acked_bytes", func(s *Sample) *int64 { return &s.Acked }),
	bytesField("sacked_bytes", func(s *Sample) *int64 { return &s.Sacked }),
	bytesField("sent_bytes", func(s *Sample) *int64 { return &s.Sent }),
	bytesField("repeated_bytes", func(s *Sample) *int64 { return &s.Repeated }),
	timeField("srtt_us", func(s *Sample) *time.Duration { return &s.SRTT }),
	timeField("min_rtt_us", func(s *Sample) *time.Duration { return &s.MinRTT }),
	bytesField("window_bytes", func(s *Sample) *int64 { return &s.Window }),
	bytesField("peer_window_bytes", func(s *Sample) *int64 { return &s.PeerWindow }),
	bytesField("unacked_bytes", func(s *Sample) *int64 { return &s.Unacked }),
	bytesField("unsent_bytes", func(s *Sample) *int64 { return &s.Unsent }),
	bytesField("send_buffer_bytes", func(s *Sample) *int64 { return &s.SendBuffer }),
	timeField("busy_us", func(s *Sample) *time.Duration { return &s.Busy }),
	timeField("receive_window_us", func(s *Sample) *time.Duration { return &s.ReceiveWindowFor }),
	timeField("send_buffer_us", func(s *Sample) *time.Duration { return &s.SendBufferFor }),
	boolField("fed", func(s *Sample) *bool { return &s.Fed }),
	boolField("whole", func(s *Sample) *bool { return &s.Whole }),
}

// Columns are the names of a sample's columns, with their units.
func Columns() []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

// Values are a sample's columns in the order of Columns.
func (s *Sample) Values() []int64 {
	values := make([]int64, len(fields))
	for i, f := range fields {
		values[i] = f.get(s)
	}
	return values
}

// MarshalJSON writes the values as a list: thousands of samples have a place
// in one message.
func (s Sample) MarshalJSON() ([]byte, error) { return json.Marshal(s.Values()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Sample) UnmarshalJSON(b []byte) error {
	var values []int64
	if err := json.Unmarshal(b, &values); err != nil {
		return err
	}
	if len(values) != len(fields) {
		return fmt.Errorf("a sample has %d values, want %d", len(values), len(fields))
	}
	for i, f := range fields {
		f.set(s, values[i])
	}
	return nil
}
