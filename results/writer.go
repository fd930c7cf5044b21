package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Writer appends rows to a file. It is safe for concurrent use.
type Writer struct {
	mu   sync.Mutex
	file *os.File
	size int64 // of the whole lines in the file
}

// Create makes a new file with nothing but the header. It is an error if the
// file exists: measurements are never overwritten.
func Create(path string) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create results: %w", err)
	}
	w := &Writer{file: file}
	if err := w.append(header()); err != nil {
		return nil, errors.Join(fmt.Errorf("create results: %w", err), file.Close())
	}
	return w, nil
}

// OpenAppend opens a file to go on after its last whole line; a torn line at
// its end, left by a killed writer, is cut off. A file that has other columns
// is an error.
func OpenAppend(path string) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("append to results: %w", err)
	}
	w := &Writer{file: file}
	if err := w.resume(); err != nil {
		return nil, errors.Join(fmt.Errorf("append to results: %s: %w", path, err), file.Close())
	}
	return w, nil
}

func (w *Writer) resume() error {
	data, err := io.ReadAll(w.file)
	if err != nil {
		return err
	}
	whole, _ := splitTorn(data)
	if len(whole) == 0 && bytes.HasPrefix(header(), data) {
		return w.append(header()) // killed before or while the header was written
	}
	if !bytes.HasPrefix(whole, header()) {
		return errors.New("the first line is not this version's header")
	}
	w.size = int64(len(whole))
	return w.file.Truncate(w.size)
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
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.append(text); err != nil {
		return fmt.Errorf("write row: %w", err)
	}
	return nil
}

// append writes after the last whole line: what an earlier failure (a full
// disk) left behind there is overwritten.
func (w *Writer) append(text []byte) error {
	if _, err := w.file.WriteAt(text, w.size); err != nil {
		return errors.Join(err, w.file.Truncate(w.size))
	}
	w.size += int64(len(text))
	return w.file.Sync()
}

// Close closes the file. Rows are on disk before it.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.file.Close()
}

// splitTorn parts the whole lines from what follows the last newline.
func splitTorn(data []byte) (whole, torn []byte) {
	end := bytes.LastIndexByte(data, '\n') + 1
	return data[:end], data[end:]
}
