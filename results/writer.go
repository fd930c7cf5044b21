package results

import (
	"errors"
	"fmt"
)

// Writer appends rows to a file. It is safe for concurrent use.
type Writer struct{ *appended }

// Create makes a new file with nothing but the header. It is an error if the
// file exists: measurements are never overwritten.
func Create(path string) (*Writer, error) {
	file, err := createAppended(path, header())
	if err != nil {
		return nil, fmt.Errorf("create results: %w", err)
	}
	return &Writer{file}, nil
}

// OpenAppend opens a file to go on after its last whole line; a torn line at
// its end, left by a killed writer, is cut off. A file that has other columns
// is an error.
func OpenAppend(path string) (*Writer, error) {
	file, err := openAppended(path, header())
	if err != nil {
		return nil, fmt.Errorf("append to results: %w", err)
	}
	return &Writer{file}, nil
}

// Write appends one row and returns when it is on disk. The line goes out in
// one piece, so that whatever kills the process leaves at most one torn line,
// the last. A row that beats light gets a flag, one that Validate refuses is
// not written.
func (w *Writer) Write(r Row) error {
	text, err := line(r)
	if err != nil {
		return fmt.Errorf("write row %s:%s to %s:%s: %w", r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion, err)
	}
	if err := errors.Join(w.append(text), w.sync()); err != nil {
		return fmt.Errorf("write row: %w", err)
	}
	return nil
}
