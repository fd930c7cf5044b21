package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"

	"github.com/antipode-bench/antipode/probe/wire"
)

// Samples appends what the kernels said in the course of the tests to a file,
// samples.csv: evidence for the rows of results.csv, whose run and pair each
// line names. It is safe for concurrent use.
//
// The row comes first: a writer that is killed between the two leaves a row
// whose samples are missing, or end in the middle, never samples of a pair that
// is measured once more. What is lost then is not worth a second test.
type Samples struct{ *appended }

// SampleColumns are the names of the file's columns, in their order.
func SampleColumns() []string {
	return append(append([]string{"run_id", "from_cloud", "from_region", "to_cloud", "to_region"}, wire.SampleColumns()...), "repetition")
}

// CreateSamples makes a new file with nothing but the header. It is an error if
// the file exists.
func CreateSamples(path string) (*Samples, error) {
	header, err := csvLines([][]string{SampleColumns()})
	if err != nil {
		return nil, fmt.Errorf("create samples: %w", err)
	}
	file, err := createAppended(path, header)
	if err != nil {
		return nil, fmt.Errorf("create samples: %w", err)
	}
	return &Samples{file}, nil
}

// AppendSamples opens a file to go on after its last whole line; a torn line at
// its end is cut off. A file that has other columns is an error.
func AppendSamples(path string) (*Samples, error) {
	header, err := csvLines([][]string{SampleColumns()})
	if err != nil {
		return nil, fmt.Errorf("append to samples: %w", err)
	}
	file, err := openAppended(path, header)
	if err != nil {
		return nil, fmt.Errorf("append to samples: %w", err)
	}
	return &Samples{file}, nil
}

// Write appends the samples of a row's throughput tests, in one piece. It does
// not wait for the disk. Without a test over UDP, u is nil.
func (s *Samples) Write(r Row, t *wire.ThroughputResult, u *wire.UDPResult) error {
	lines := append(t.SampleRows(), u.SampleRows()...)
	repetition := ""
	if r.Repetition != nil {
		repetition = strconv.FormatInt(*r.Repetition, 10)
	}
	for i, cells := range lines {
		lines[i] = append(append([]string{r.RunID, r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion}, cells...), repetition)
	}
	text, err := csvLines(lines)
	if err == nil {
		err = s.append(text)
	}
	if err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
}

// Close puts what was written on disk and closes the file.
func (s *Samples) Close() error { return errors.Join(s.sync(), s.appended.Close()) }

func csvLines(lines [][]string) ([]byte, error) {
	var b bytes.Buffer
	err := csv.NewWriter(&b).WriteAll(lines)
	return b.Bytes(), err
}
