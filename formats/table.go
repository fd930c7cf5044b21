package formats

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/antipode-bench/antipode/results"
)

// table is a CSV file of another tool with named columns.
type table struct {
	columns []string // that there must be, in any order
	row     func(line cells) (results.Row, error)
}

// is looks for the columns in the first line.
func (t table) is(start []byte) bool {
	line, _, _ := bytes.Cut(start, []byte("\n"))
	names, err := csv.NewReader(bytes.NewReader(line)).Read()
	if err != nil {
		return false
	}
	for _, column := range t.columns {
		if !slices.Contains(names, column) {
			return false
		}
	}
	return true
}

func (t table) read(name string, r io.Reader, c *counted) error {
	lines := csv.NewReader(r)
	lines.ReuseRecord = true
	head, err := lines.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	at := map[string]int{}
	for i, column := range head {
		at[column] = i
	}
	for {
		values, err := lines.Read()
		var parse *csv.ParseError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &parse):
			c.AddBad(results.BadRow{File: name, Line: parse.StartLine, Reason: parse.Err.Error()})
			continue
		case err != nil:
			return fmt.Errorf("read %s: %w", name, err)
		}
		row, err := t.row(cells{at, values})
		if err != nil {
			line, _ := lines.FieldPos(0)
			c.AddBad(results.BadRow{File: name, Line: line, Reason: err.Error()})
			continue
		}
		c.Add(row)
	}
}

// cells are the values of a line by their columns.
type cells struct {
	at     map[string]int
	values []string
}

func (c cells) text(column string) string {
	i, ok := c.at[column]
	if !ok || i >= len(c.values) {
		return ""
	}
	return strings.TrimSpace(c.values[i])
}

// name is a text that can stand in a column of names.
func (c cells) name(column string) (string, error) {
	s := c.text(column)
	if !results.IsName(s) {
		return "", fmt.Errorf("column %s: bad value %q", column, clipped(s))
	}
	return s, nil
}

// number is a number that can be measured: finite, and not below zero.
func (c cells) number(column string) (*float64, error) {
	s := c.text(column)
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case s == "":
		return nil, fmt.Errorf("column %s: empty", column)
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return nil, fmt.Errorf("column %s: %q is not a number", column, clipped(s))
	case v < 0:
		return nil, fmt.Errorf("column %s: %v is below zero", column, v)
	}
	return &v, nil
}

// clipped keeps a broken file from filling the screen.
func clipped(s string) string {
	const most = 40
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
