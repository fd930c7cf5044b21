package wire

import (
	"slices"
	"strconv"

	"github.com/antipode-bench/antipode/probe/trace"
)

// streamUDP stands in the place of a stream's number in samples of UDP.
const streamUDP = "udp"

var udpSampleColumns = []string{"udp_sent", "udp_received", "udp_lost", "udp_reordered", "udp_duplicates", "udp_jitter_us"}

// SampleColumns are the columns of SampleRows. Further ones come on the right.
func SampleColumns() []string {
	return slices.Concat([]string{"stream", "received_bytes"}, trace.Columns(), udpSampleColumns)
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
	return append(row, make([]string, len(udpSampleColumns))...)
}

// SampleRows are a result's samples as cells, nil of no result.
func (r *UDPResult) SampleRows() [][]string {
	if r == nil {
		return nil
	}
	var rows [][]string
	columns := SampleColumns()
	first, at := len(columns)-len(udpSampleColumns), slices.Index(columns, "at_us")
	for _, s := range r.Samples {
		row := make([]string, len(columns))
		row[0], row[1], row[at] = streamUDP, strconv.FormatInt(s.ReceivedBytes, 10), strconv.FormatInt(s.AtUs, 10)
		for i, v := range []int64{s.Sent, s.Received, s.Lost, s.Reordered, s.Duplicates, s.JitterUs} {
			row[first+i] = strconv.FormatInt(v, 10)
		}
		rows = append(rows, row)
	}
	return rows
}

// WithoutSamples is the result without what takes most of its room.
func (r *UDPResult) WithoutSamples() *UDPResult {
	if r == nil {
		return nil
	}
	short := *r
	short.Samples = nil
	return &short
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
