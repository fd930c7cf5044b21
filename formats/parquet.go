package formats

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/antipode-bench/antipode/results"
)

// openRuns is how many runs are written at once; each has a buffer.
const openRuns = 8

// groupRows is how many rows are in memory, and in a row group, at most.
const groupRows = 50_000

// Parquet writes rows into a folder that DuckDB, Athena, BigQuery and Spark
// read as one table: run_id=ID/part-0.parquet, where the run's id is the value
// of the partition's column. Every file has every column. Runs that are in the
// folder already are never touched: to write one again is an error.
type Parquet struct {
	dir    string
	record reflect.Type
	line   reflect.Value // reused
	schema *parquet.Schema
	open   map[string]*parquetPart
	parts  map[string]int // of each run, written so far
}

type parquetPart struct {
	file *os.File
	w    *parquet.GenericWriter[any]
	rows int
}

// NewParquet makes the folder unless it is there.
func NewParquet(dir string) (*Parquet, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("write Parquet: %w", err)
	}
	record := tableType()
	return &Parquet{
		dir: dir, record: record, line: reflect.New(record),
		schema: parquet.NewSchema("row", parquet.SchemaOf(reflect.New(record).Interface())),
		open:   map[string]*parquetPart{}, parts: map[string]int{},
	}, nil
}

// Write appends a row to its run, which must have an id.
func (p *Parquet) Write(r results.Row) error {
	part, err := p.part(r.RunID)
	if err == nil {
		err = tableRow(p.line, r)
	}
	if err == nil {
		_, err = part.w.Write([]any{p.line.Interface()})
	}
	if err == nil {
		if part.rows++; part.rows%groupRows == 0 {
			err = part.w.Flush()
		}
	}
	if err != nil {
		return fmt.Errorf("write Parquet: %w", err)
	}
	return nil
}

// part opens the run's next file unless one is open.
func (p *Parquet) part(run string) (*parquetPart, error) {
	if part := p.open[run]; part != nil {
		return part, nil
	}
	if run == "" {
		return nil, errors.New("a row without a run")
	}
	if len(p.open) >= openRuns {
		if err := p.Close(); err != nil {
			return nil, err
		}
	}
	folder := filepath.Join(p.dir, "run_id="+url.PathEscape(run))
	if p.parts[run] == 0 {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return nil, err
		}
	}
	name := filepath.Join(folder, fmt.Sprintf("part-%d.parquet", p.parts[run]))
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	p.parts[run]++
	part := &parquetPart{file: file, w: parquet.NewGenericWriter[any](file, p.schema, parquet.Compression(&zstd.Codec{}))}
	p.open[run] = part
	return part, nil
}

// Close ends the files. Only then can they be read.
func (p *Parquet) Close() error {
	var errs []error
	for run, part := range p.open {
		errs = append(errs, part.w.Close(), part.file.Close())
		delete(p.open, run)
	}
	return errors.Join(errs...)
}
