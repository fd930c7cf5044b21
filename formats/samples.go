package formats

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/antipode-bench/antipode/results"
)

// pairKey is what a line of samples.csv has of its row.
type pairKey struct{ run, fromCloud, from, toCloud, to string }

// rowsOfPairs remembers where the rows of each pair are.
type rowsOfPairs struct {
	Sink
	rows  map[pairKey][]measured // those that are ok, in order
	count int
}

// measured is a row whose samples are still to come.
type measured struct {
	row        int
	repetition string // empty if there is only one
}

func (s *rowsOfPairs) Add(r results.Row) {
	if r.Status == results.StatusOK {
		key := pairKey{r.RunID, r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion}
		m := measured{row: s.count}
		if r.Repetition != nil {
			m.repetition = strconv.FormatInt(*r.Repetition, 10)
		}
		s.rows[key] = append(s.rows[key], m)
	}
	s.count++
	s.Sink.Add(r)
}

// readSamples tells the sink how tests went on. The samples of a pair's rows
// follow each other in the order of the rows; where they name the repetition, it
// is that row's. No file is no error, nor is a line
// that breaks off: the evidence of a row may be missing, or end early.
func readSamples(path string, rows *rowsOfPairs) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	defer file.Close()
	lines := csv.NewReader(file)
	lines.ReuseRecord = true
	head, err := lines.Read()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c := cells{at: map[string]int{}}
	for i, column := range head {
		c.at[column] = i
	}
	b := seriesBuilder{rows: rows}
	for {
		c.values, err = lines.Read()
		var parse *csv.ParseError
		switch {
		case err == io.EOF || errors.As(err, &parse):
			b.flush()
			return nil
		case err != nil:
			return fmt.Errorf("read %s: %w", path, err)
		}
		b.take(c)
	}
}

// seriesBuilder makes series of lines.
type seriesBuilder struct {
	rows     *rowsOfPairs
	key      pairKey
	repeated string // which repetition; empty if that is not told
	atUs     int64  // of the line before
	received int64
	series   results.Series
}

// take adds a line that is of all streams. A time that goes back begins another
// test.
func (b *seriesBuilder) take(c cells) {
	atUs, err := strconv.ParseInt(c.text("at_us"), 10, 64)
	received, err2 := strconv.ParseInt(c.text("received_bytes"), 10, 64)
	if c.text("stream") != "" || err != nil || err2 != nil {
		return
	}
	key := pairKey{c.text("run_id"), c.text("from_cloud"), c.text("from_region"), c.text("to_cloud"), c.text("to_region")}
	repeated := c.text("repetition")
	if key != b.key || repeated != b.repeated || atUs < b.atUs {
		b.flush()
		b.key, b.repeated = key, repeated
	}
	if atUs <= b.atUs {
		return
	}
	srtt, err := strconv.ParseInt(c.text("srtt_us"), 10, 64)
	if err != nil {
		srtt = 0
	}
	seconds := float64(atUs-b.atUs) / 1e6
	b.series.AtS = append(b.series.AtS, float32(float64(atUs)/1e6))
	b.series.GoodputBps = append(b.series.GoodputBps, float32(max(0, float64(received-b.received)*8/seconds)))
	b.series.RTTMs = append(b.series.RTTMs, float32(float64(srtt)/1e3))
	b.atUs, b.received = atUs, received
}

// flush gives the series to the next row of its pair, of its repetition.
func (b *seriesBuilder) flush() {
	waiting := b.rows.rows[b.key]
	at := slices.IndexFunc(waiting, func(m measured) bool { return b.repeated == "" || m.repetition == b.repeated })
	if at >= 0 && len(b.series.AtS) > 0 {
		b.rows.AddSeries(waiting[at].row, b.series)
		b.rows.rows[b.key] = slices.Delete(waiting, at, at+1)
	}
	b.series, b.atUs, b.received = results.Series{}, 0, 0
}
