package formats

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/results"
)

// Sink is told what is read, in the order of the file.
type Sink interface {
	Add(results.Row)
	AddBad(results.BadRow)
	Locate([]antipode.Region)            // coordinates that come with the rows, before them
	AddSeries(row int, s results.Series) // of the row-th accepted row of the source, from 0
	End(results.Source)                  // the source is through
}

// Read reads a file or the folder of a run and tells the sink. A file of an
// unknown kind is an error that says what was expected, as is one that breaks
// off. A file may be compressed by gzip.
func Read(path string, sink Sink) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read %s: there is no such file or folder", path)
	case err != nil:
		return fmt.Errorf("read %s: %w", path, err)
	case info.IsDir():
		return readRun(path, sink)
	}
	return readFile(path, path, sink)
}

// readFile tells the sink of the rows of a file, whose source is called name.
func readFile(path, name string, sink Sink) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	defer file.Close()
	source, err := ReadFrom(path, file, sink)
	if err != nil {
		return err
	}
	source.Name = name
	sink.End(source)
	return nil
}

// kindsText is what files can be, for people.
const kindsText = "results.csv of antipode, results of intercloud-throughput, a throughput or latency grid of skyplane, the output of iperf3 -J or that of ping"

// format is one kind of file.
type format struct {
	kind   string
	method string // how its figures were measured
	// is looks at the beginning of a file, without a byte order mark.
	is func(start []byte) bool
	// read tells the sink of every row and bad row. An error is of the file as
	// a whole.
	read func(name string, r io.Reader, c *counted) error
}

func allFormats() []format {
	return []format{antipodeFormat(), intercloudFormat(), skyplaneThroughput(), skyplaneLatency(), iperf3Format(), pingFormat()}
}

// startBytes is how much of a file is looked at to tell its kind.
const startBytes = 64 << 10

// ReadFrom tells the sink of the rows of an open file, without End. The name
// is what errors and bad rows call it.
func ReadFrom(name string, r io.Reader, sink Sink) (results.Source, error) {
	b := bufio.NewReaderSize(r, startBytes)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(b)
		if err != nil {
			return results.Source{}, fmt.Errorf("%s: %w", name, err)
		}
		b = bufio.NewReaderSize(unzipped, startBytes)
	}
	if mark, _ := b.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = b.Discard(3) // peeked
	}
	start, err := b.Peek(startBytes)
	if err != nil && err != io.EOF {
		return results.Source{}, fmt.Errorf("read %s: %w", name, err)
	}
	for _, f := range allFormats() {
		if !f.is(start) {
			continue
		}
		c := &counted{Sink: sink}
		if err := f.read(name, b, c); err != nil {
			return results.Source{}, err
		}
		return results.Source{Name: name, Kind: f.kind, Method: f.method, Rows: c.rows, Bad: c.bad}, nil
	}
	return results.Source{}, unknown(name, start)
}

// unknown says what a file is like and what it should have been.
func unknown(name string, start []byte) error {
	if len(bytes.TrimSpace(start)) == 0 {
		return fmt.Errorf("%s: the file is empty; expected %s", name, kindsText)
	}
	return fmt.Errorf("%s: unknown kind of file, which begins with %q; expected %s", name, beginning(start), kindsText)
}

// beginning is a bit of the first line that can be shown on a terminal.
func beginning(start []byte) string {
	const most = 60
	line, _, _ := bytes.Cut(bytes.TrimSpace(start), []byte("\n"))
	text := strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return '?'
	}, strings.ToValidUTF8(string(line[:min(len(line), 4*most)]), "?"))
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// counted counts what it passes on.
type counted struct {
	Sink
	rows, bad int
}

func (c *counted) Add(r results.Row) {
	c.rows++
	c.Sink.Add(r)
}

func (c *counted) AddBad(b results.BadRow) {
	c.bad++
	c.Sink.AddBad(b)
}

// isUnder says whether folder has the file.
func isUnder(folder, file string) bool {
	info, err := os.Stat(filepath.Join(folder, file))
	return err == nil && info.Mode().IsRegular()
}
