package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/gocarina/gocsv"
)

// File is what a results file holds.
type File struct {
	Rows  []Row
	Extra []string // columns to the right of ours, which were not read
	Torn  string   // the text after the last newline, which is not a row: its writer was killed
}

// ReadFile reads a results file. Errors are as of Read.
func ReadFile(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, fmt.Errorf("read results: %w", err)
	}
	defer f.Close()
	return Read(path, f)
}

// Read reads a results file strictly; name is what errors call it. The header
// must begin with exactly our columns, of which a file of an earlier version
// has fewer, but never less than the first ones. A cell that is not what its column
// promises, or a row that Validate refuses, is an error of the form "name:line:
// column c: what is wrong". Empty cells are nil.
func Read(name string, r io.Reader) (File, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return File{}, fmt.Errorf("read results: %s: %w", name, err)
	}
	whole, torn := splitTorn(data)
	checked := &checkedReader{name: name, csv: csv.NewReader(bytes.NewReader(whole))}
	extra, err := checked.header()
	if err != nil {
		return File{}, err
	}
	var rows []Row
	if err := gocsv.UnmarshalCSV(checked, &rows); err != nil {
		return File{}, err
	}
	for i, row := range rows {
		if err := Validate(row); err != nil {
			return File{}, fmt.Errorf("%s:%d: %w", name, checked.lines[i], err)
		}
	}
	return File{Rows: rows, Extra: extra, Torn: string(torn)}, nil
}

// checkedReader hands gocsv only cells that gocsv cannot misread. By itself
// gocsv takes "1,5" for 1.5, "010" for 8, "7.9" for 7, "NaN" for a number and a
// header without some columns for complete.
type checkedReader struct {
	name    string
	csv     *csv.Reader
	columns int   // of ours that the file has
	lines   []int // where each row begins in the file
}

// header reads and checks the first line and returns the columns after ours.
func (c *checkedReader) header() (extra []string, err error) {
	names, err := c.csv.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: no header", c.name)
	}
	if err != nil {
		return nil, c.located(err)
	}
	for i, want := range Columns() {
		switch {
		case i >= firstColumns && (i >= len(names) || names[i] != want):
			return append(extra, names[i:]...), nil // an earlier version's
		case i >= len(names):
			return nil, fmt.Errorf("%s:1: column %s is missing", c.name, want)
		case names[i] != want:
			return nil, fmt.Errorf("%s:1: column %d is %q, want %q", c.name, i+1, names[i], want)
		}
		c.columns = i + 1
	}
	return append(extra, names[c.columns:]...), nil
}

// firstColumns are those that every version had, up to flags.
const firstColumns = 33

// ReadAll is what gocsv calls: our header, then the rows, without the columns
// to the right.
func (c *checkedReader) ReadAll() ([][]string, error) {
	records := [][]string{Columns()}
	forms := cellForms()
	for {
		cells, err := c.csv.Read()
		if err == io.EOF {
			return records, nil
		}
		if err != nil {
			return nil, c.located(err)
		}
		for i, form := range forms[:c.columns] {
			if err := form.check(cells[i]); err != nil {
				at, _ := c.csv.FieldPos(i)
				return nil, fmt.Errorf("%s:%d: column %s: %w", c.name, at, form.column, err)
			}
		}
		at, _ := c.csv.FieldPos(0)
		c.lines = append(c.lines, at)
		records = append(records, append(cells[:c.columns:c.columns], make([]string, len(forms)-c.columns)...))
	}
}

// Read is there for gocsv's interface; ReadAll is what it calls.
func (c *checkedReader) Read() ([]string, error) { return nil, errors.ErrUnsupported }

// located puts an error of encoding/csv into our form.
func (c *checkedReader) located(err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return fmt.Errorf("%s:%d: %w", c.name, parse.Line, parse.Err)
}

// kind is what the cells of a column hold.
type kind int

const (
	text kind = iota
	decimal
	whole
)

// cellForm is what the cells of a column look like.
type cellForm struct {
	column string
	kind   kind
}

func cellForms() []cellForm {
	var row Row
	byName := make(map[string]kind)
	for _, n := range numbers(&row) {
		byName[n.column] = decimal
		if n.int != nil {
			byName[n.column] = whole
		}
	}
	var forms []cellForm
	for _, column := range Columns() {
		forms = append(forms, cellForm{column, byName[column]})
	}
	return forms
}

// check refuses what is not a plain number in a column of them.
func (f cellForm) check(cell string) error {
	if cell == "" || f.kind == text {
		return nil
	}
	if err := f.isNumber(cell); err != nil {
		return err
	}
	if f.kind == whole {
		_, err := strconv.ParseInt(cell, 10, 64)
		return err
	}
	_, err := strconv.ParseFloat(cell, 64)
	return err
}

// isNumber looks at the form of a number alone: it may still be too large.
func (f cellForm) isNumber(cell string) error {
	if f.kind == decimal && !isPlainNumber(cell) || f.kind == whole && !isPlainWhole(cell) {
		return fmt.Errorf("%q is not a plain number", shortened(cell))
	}
	return nil
}

// shortened keeps a broken file from filling the screen.
func shortened(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
