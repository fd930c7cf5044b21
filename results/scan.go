package results

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
)

// Scanner reads a results file of any version row by row, in memory that does
// not grow with the file, and keeps apart what is not a row where Read gives up.
// It takes and refuses the same rows.
type Scanner struct {
	checked checkedReader
	forms   []cellForm
	end     *endReader
	texts   []*string // cells of ahead.row by column; nil of numbers
	floats  []**float64
	ints    []**int64
	cells   []number

	floatRoom []float64 // for the cells of some rows
	intRoom   []int64
	ahead     record // read, but not handed out yet
	next      func() csvLine
}

// csvLine is what encoding/csv makes of a line of the file.
type csvLine struct {
	cells []string
	line  int   // of the cells
	err   error // io.EOF after the last
}

// record is a row, or why a line is none.
type record struct {
	row  Row
	bad  *BadRow
	line int // 0: there is none
}

// NewScanner reads the header; what is wrong with it is an error as of Read.
// The name is for errors.
func NewScanner(name string, r io.Reader) (*Scanner, error) {
	s, err := openScanner(name, r)
	if err != nil {
		return nil, err
	}
	s.next = s.checked.line
	return s, s.begin()
}

// openScanner reads the header, and no row.
func openScanner(name string, r io.Reader) (*Scanner, error) {
	end := &endReader{r: r}
	s := &Scanner{end: end, forms: cellForms(), checked: checkedReader{name: name, csv: csv.NewReader(bufio.NewReaderSize(end, 256<<10))}}
	if _, err := s.checked.header(); err != nil {
		return nil, err
	}
	s.checked.csv.ReuseRecord = true
	s.bind()
	return s, nil
}

// begin reads the first row.
func (s *Scanner) begin() error {
	s.read()
	if s.ahead.line == 0 && s.end.torn() {
		return fmt.Errorf("%s: no header", s.checked.name) // its writer was killed before the first newline
	}
	return nil
}

// ends is true of what is no line: the end of the file, or an error of reading.
func (l csvLine) ends() bool {
	var parse *csv.ParseError
	return l.err != nil && !errors.As(l.err, &parse)
}

// line is the next one, of our columns. The cells are good until the next call.
func (c *checkedReader) line() csvLine {
	cells, err := c.csv.Read()
	if err != nil {
		return csvLine{err: err}
	}
	line, _ := c.csv.FieldPos(0)
	return csvLine{cells: cells[:c.columns], line: line}
}

// bind finds the cell of every column in the row ahead.
func (s *Scanner) bind() {
	row := &s.ahead.row
	s.cells = numbers(row)
	fields := reflect.ValueOf(row).Elem()
	n := fields.NumField()
	s.texts, s.floats, s.ints = make([]*string, n), make([]**float64, n), make([]**int64, n)
	for i := range n {
		switch field := fields.Field(i).Addr().Interface().(type) {
		case *string:
			s.texts[i] = field
		case **float64:
			s.floats[i] = field
		case **int64:
			s.ints[i] = field
		}
	}
}

// Next returns a row, or a bad one; io.EOF after the last. A last line without
// its newline is a bad row: its writer was killed. Other errors are of reading.
func (s *Scanner) Next() (row Row, bad *BadRow, err error) {
	if s.ahead.line == 0 {
		if s.end.err != nil && s.end.err != io.EOF {
			return Row{}, nil, s.end.err
		}
		return Row{}, nil, io.EOF
	}
	row, bad = s.ahead.row, s.ahead.bad
	line := s.ahead.line
	s.read()
	if s.ahead.line == 0 && bad == nil && s.end.torn() {
		bad = &BadRow{s.checked.name, line, "the line has no end: its writer was stopped"}
	}
	return row, bad, nil
}

// read fills s.ahead.
func (s *Scanner) read() {
	l := s.next()
	var parse *csv.ParseError
	switch {
	case errors.As(l.err, &parse):
		s.ahead.line, s.ahead.bad = parse.StartLine, &BadRow{s.checked.name, parse.StartLine, parse.Err.Error()}
	case l.err != nil:
		s.ahead.line = 0
	default:
		s.ahead.line, s.ahead.bad = l.line, nil
		if err := s.take(l.cells); err != nil {
			s.ahead.bad = &BadRow{s.checked.name, l.line, err.Error()}
		}
	}
}

// take fills the row ahead.
func (s *Scanner) take(cells []string) error {
	s.ahead.row = Row{}
	for i, cell := range cells {
		if cell == "" {
			continue
		}
		if err := s.set(i, cell); err != nil {
			return errors.New("column " + s.forms[i].column + ": " + err.Error())
		}
	}
	return validate(&s.ahead.row, s.cells)
}

func (s *Scanner) set(i int, cell string) error {
	if s.texts[i] != nil {
		*s.texts[i] = cell
		return nil
	}
	if err := s.forms[i].isNumber(cell); err != nil {
		return err
	}
	if s.floats[i] != nil {
		v, err := strconv.ParseFloat(cell, 64)
		*s.floats[i] = s.float(v)
		return err
	}
	v, err := strconv.ParseInt(cell, 10, 64)
	*s.ints[i] = s.int(v)
	return err
}

// roomFor is how many numbers are allocated at once.
const roomFor = 512

func (s *Scanner) float(v float64) *float64 {
	if len(s.floatRoom) == 0 {
		s.floatRoom = make([]float64, roomFor)
	}
	p := &s.floatRoom[0]
	s.floatRoom = s.floatRoom[1:]
	*p = v
	return p
}

func (s *Scanner) int(v int64) *int64 {
	if len(s.intRoom) == 0 {
		s.intRoom = make([]int64, roomFor)
	}
	p := &s.intRoom[0]
	s.intRoom = s.intRoom[1:]
	*p = v
	return p
}

// endReader remembers how the file ended.
type endReader struct {
	r    io.Reader
	last byte
	err  error
}

func (e *endReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if n > 0 {
		e.last = p[n-1]
	}
	if err != nil {
		e.err = err
	}
	return n, err
}

// torn is true when the last line has no end.
func (e *endReader) torn() bool { return e.err == io.EOF && e.last != '\n' }
