package wire

import (
	"strconv"

	"github.com/antipode-bench/antipode/probe/trace"
)

// SampleColumns are the columns of SampleRows. Further ones come on the right.
func SampleColumns() []string {
	return append([]string{"stream", "received_bytes"}, trace.Columns()...)
}

// SampleRows are a result's samples as cells: first of all streams added up,
// whose stream is empty, then of each of several. How much the receiver had is
// known of all streams only.
func (r *ThroughputResult) SampleRows() [][]string {
	var rows [][]string
	for i := range r.Samples {
		received := ""
		if i < len(r.Received) {
			received = strconv.FormatInt(r.Received[i], 10)
		}
		rows = append(rows, sampleRow("", received, &r.Samples[i]))
	}
	for stream, log := range r.StreamSamples {
		for i := range log {
			rows = append(rows, sampleRow(strconv.Itoa(stream), "", &log[i]))
		}
	}
	return rows
}

func sampleRow(stream, received string, s *trace.Sample) []string {
	row := []string{stream, received}
	for _, v := range s.Values() {
		row = append(row, strconv.FormatInt(v, 10))
	}
	return row
}

// WithoutSamples is the result without what takes most of its room.
func (r *ThroughputResult) WithoutSamples() *ThroughputResult {
	if r == nil {
		return nil
	}
	short := *r
	short.Samples, short.Received, short.StreamSamples = nil, nil, nil
	return &short
}
