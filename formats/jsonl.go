package formats

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/antipode-bench/antipode/results"
)

// JSONLines writes a JSON object a row, with the columns' names as keys, in
// their order. What is empty has no key.
type JSONLines struct {
	w      *bufio.Writer
	enc    *json.Encoder
	record reflect.Type
}

// NewJSONLines writes to w until Close.
func NewJSONLines(w io.Writer) *JSONLines {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return &JSONLines{b, enc, recordType(func(column string) string { return fmt.Sprintf(`json:"%s,omitempty"`, column) })}
}

// Write appends a row.
func (j *JSONLines) Write(r results.Row) error {
	if err := j.enc.Encode(reflect.ValueOf(r).Convert(j.record).Interface()); err != nil {
		return fmt.Errorf("write JSON lines: %w", err)
	}
	return nil
}

// Close writes what is still in memory. It does not close the writer below.
func (j *JSONLines) Close() error { return j.w.Flush() }
