package results

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/gocarina/gocsv"
)

// Columns returns the names of the columns in their order.
func Columns() []string { return strings.Split(strings.TrimSpace(string(header())), ",") }

// header is the first line of a file. Encoding no rows of a fixed type cannot
// fail.
func header() []byte {
	var b bytes.Buffer
	if err := gocsv.MarshalCSV([]Row{}, csv.NewWriter(&b)); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// line is the row as one line of the file, with its newline.
func line(r Row) ([]byte, error) {
	r = canonical(r)
	if err := Validate(r); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := gocsv.MarshalCSVWithoutHeaders([]Row{r}, csv.NewWriter(&b)); err != nil {
		return nil, fmt.Errorf("encode row: %w", err)
	}
	return b.Bytes(), nil
}

// canonical is the row as it reads back from a file: numbers rounded to what
// the file keeps, the error on one line, and flagged if it beats light.
func canonical(r Row) Row {
	r.Error = oneLine(r.Error)
	r.Flags = withFlag(r.Flags, LightFlag(r))
	for _, n := range numbers(&r) {
		if n.float != nil && *n.float != nil {
			rounded := round(**n.float, n.decimals)
			*n.float = &rounded // the caller's number stays as it is
		}
	}
	return r
}

func round(v float64, decimals int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', decimals, 64), 64)
	if err != nil || rounded == 0 {
		return 0 // without the sign of a negative zero
	}
	return rounded
}

// oneLine makes any text safe in a cell: valid UTF-8 on one line, which no
// spreadsheet takes for a formula.
func oneLine(s string) string {
	s = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.IsSpace(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
