package results_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/results"
)

// sampled is a test of two streams, with three samples of both and one of each.
func sampled() *wire.ThroughputResult {
	at := func(ms time.Duration, acked int64) trace.Sample {
		return trace.Sample{At: ms * time.Millisecond, Acked: acked, SRTT: 1500 * time.Microsecond, Fed: true}
	}
	return &wire.ThroughputResult{
		Samples:       trace.Log{at(0, 0), at(100, 1000), at(200, 2500)},
		Received:      []int64{0, 900, 2500},
		StreamSamples: []trace.Log{{at(200, 1000)}, {at(200, 1500)}},
	}
}

// datagrams is a test over UDP with two samples.
func datagrams() *wire.UDPResult {
	return &wire.UDPResult{Samples: []wire.UDPSample{
		{AtUs: 100_000, Sent: 11, Received: 9, ReceivedBytes: 900, Lost: 1, JitterUs: 7},
		{AtUs: 200_000, Sent: 20, Received: 20, ReceivedBytes: 2000, Reordered: 2, Duplicates: 1, JitterUs: 8},
	}}
}

func writeSamples(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "samples.csv")
	s, err := results.CreateSamples(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Write(measured(), sampled(), datagrams()), s.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSamples(t *testing.T) {
	data, err := os.ReadFile(writeSamples(t))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(results.SampleColumns(), rows[0]); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	const ends = "20261130-101500-abcd,aws,us-east-1,gcp,europe-west3,"
	want := []string{
		ends + ",0,0,0", ends + ",900,100000,1000", ends + ",2500,200000,2500",
		ends + "0,,200000,1000", ends + "1,,200000,1500",
		ends + "udp,900,100000,", ends + "udp,2000,200000,",
	}
	var got []string
	for _, row := range rows[1:] {
		got = append(got, strings.Join(row[:9], ","))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, want := range []string{",,,,,,2", ",,,,,,2", ",,,,,,2", ",,,,,,2", ",,,,,,2", "11,9,1,0,0,7,2", "20,20,0,2,1,8,2"} {
		if row := rows[i+1]; strings.Join(row[len(row)-7:], ",") != want {
			t.Errorf("line %d ends in %q, want %q", i+1, row[len(row)-7:], want)
		}
	}
}

// Wherever a kill cuts the file, whole lines stay and it can be gone on with.
func TestEveryCutOfSamplesIsSurvived(t *testing.T) {
	path := writeSamples(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header := bytes.IndexByte(data, '\n') + 1
	for cut := range len(data) + 1 {
		if err := os.WriteFile(path, data[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		whole := bytes.LastIndexByte(data[:cut], '\n') + 1
		s, err := results.AppendSamples(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if err := errors.Join(s.Write(measured(), sampled(), datagrams()), s.Close()); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		want := string(data[:max(whole, header)]) + string(data[header:])
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Fatalf("cut at %d: %q, want %q", cut, got, want)
		}
	}
}

func TestSamplesOfOtherFiles(t *testing.T) {
	path := writeSamples(t)
	if _, err := results.CreateSamples(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create over a file: %v", err)
	}
	if _, err := results.AppendSamples(path + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("append to nothing: %v", err)
	}
	if err := os.WriteFile(path, []byte("at,colour\n1,blu"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := results.AppendSamples(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("append to another file: %v", err)
	}
}
