package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/formats"
	"github.com/antipode-bench/antipode/results"
)

type exportFlags struct {
	inputFlags
	parquet, jsonl string
}

func newExport() *cobra.Command {
	f := exportFlags{}
	cmd := &cobra.Command{
		Use:   "export FILE...",
		Short: "Write rows as Parquet or JSON lines, for programs that read tables",
		Long: `Export writes rows of any kind of file with the columns and units of results.csv: as JSON
lines, or as a folder of Parquet files, one folder for each run (run_id=ID), that DuckDB,
Athena, BigQuery and Spark read as one table. Runs can be added to the folder later; one
that is there already is an error.

` + inputsHelp,
		Example: `  antipode export runs --parquet table
  antipode export results_202202.csv --jsonl -`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return export(cmd.OutOrStdout(), cmd.ErrOrStderr(), args, &f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.parquet, "parquet", "", "write Parquet files into this `FOLDER`")
	flags.StringVar(&f.jsonl, "jsonl", "", "write JSON lines into this `FILE`, which must be new (-: print them)")
	flags.StringVar(&f.runs, "runs", defaultOut, "`FOLDER` that has the folders of runs given by their ids")
	return cmd
}

// rowWriter is where rows go.
type rowWriter interface {
	Write(results.Row) error
	Close() error
}

// exportSink passes rows on. After an error it does nothing more.
type exportSink struct {
	w         rowWriter
	run       string // of rows that have none
	rows, bad int
	badRows   []results.BadRow
	err       error
}

// Add writes the row.
func (s *exportSink) Add(r results.Row) {
	if r.RunID == "" {
		r.RunID = s.run
	}
	if s.err == nil {
		s.err = s.w.Write(r)
	}
	s.rows++
}

// AddBad remembers what is worth listing.
func (s *exportSink) AddBad(b results.BadRow) {
	if s.bad++; s.bad <= mostTold {
		s.badRows = append(s.badRows, b)
	}
}

// Locate, AddSeries and End have nothing to write.
func (s *exportSink) Locate([]antipode.Region)      {}
func (s *exportSink) AddSeries(int, results.Series) {}
func (s *exportSink) End(results.Source)            {}

func export(stdout, stderr io.Writer, files []string, f *exportFlags) error {
	if (f.parquet == "") == (f.jsonl == "") {
		return usageError("say where to: either --parquet FOLDER or --jsonl FILE")
	}
	w, err := f.open(stdout)
	if err != nil {
		return err
	}
	s := &exportSink{w: w}
	for _, file := range files {
		s.run = runOf(file)
		if err = f.read(file, s); err != nil {
			break
		}
	}
	if err := errors.Join(err, s.err, w.Close()); err != nil {
		return err
	}
	tellBad(stderr, s.badRows, s.bad)
	fmt.Fprintf(stderr, "%s written\n", plural(s.rows, "row"))
	return nil
}

func (f *exportFlags) open(stdout io.Writer) (rowWriter, error) {
	if f.parquet != "" {
		w, err := formats.NewParquet(f.parquet)
		if err != nil {
			return nil, usageError("--parquet: %w", err)
		}
		return w, nil
	}
	if f.jsonl == "-" {
		return formats.NewJSONLines(stdout), nil
	}
	file, err := os.OpenFile(f.jsonl, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, usageError("--jsonl: %w", err)
	}
	return &linesFile{formats.NewJSONLines(file), file}, nil
}

// linesFile closes the file too.
type linesFile struct {
	*formats.JSONLines
	file *os.File
}

// Close ends the file.
func (l *linesFile) Close() error { return errors.Join(l.JSONLines.Close(), l.file.Close()) }

var notInRunIDs = regexp.MustCompile(`[^a-z0-9]+`)

// runOf makes a run's id of the name of a file that has none.
func runOf(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return "file-" + strings.Trim(notInRunIDs.ReplaceAllString(strings.ToLower(name), "-"), "-")
}
