package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// appended is a file of lines under a header. It only grows, whatever kills its
// writer. It is safe for concurrent use.
type appended struct {
	mu   sync.Mutex
	file *os.File
	size int64 // of the whole lines in the file
}

func createAppended(path string, header []byte) (*appended, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	a := &appended{file: file}
	if err := errors.Join(a.append(header), a.sync()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return a, nil
}

// openAppended cuts off a torn last line.
func openAppended(path string, header []byte) (*appended, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	a := &appended{file: file}
	if err := a.resume(header); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return a, nil
}

func (a *appended) resume(header []byte) error {
	first := make([]byte, len(header))
	n, err := io.ReadFull(a.file, first)
	switch {
	case err == io.EOF, err == io.ErrUnexpectedEOF && bytes.HasPrefix(header, first[:n]):
		return errors.Join(a.append(header), a.sync()) // killed before or while the header was written
	case err != nil && err != io.ErrUnexpectedEOF:
		return err
	case !bytes.Equal(first, header):
		return errors.New("the first line is not this version's header")
	}
	rest, err := wholeLines(a.file)
	if err != nil {
		return err
	}
	a.size = int64(len(header)) + rest
	return a.file.Truncate(a.size)
}

// wholeLines is the length of what r holds up to its last newline.
func wholeLines(r io.Reader) (whole int64, err error) {
	buf := make([]byte, 64<<10)
	for read := int64(0); ; {
		n, err := r.Read(buf)
		if end := bytes.LastIndexByte(buf[:n], '\n'); end >= 0 {
			whole = read + int64(end) + 1
		}
		read += int64(n)
		if err == io.EOF {
			return whole, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// append writes after the last whole line: what an earlier failure (a full
// disk) left behind there is overwritten.
func (a *appended) append(text []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.file.WriteAt(text, a.size); err != nil {
		return errors.Join(err, a.file.Truncate(a.size))
	}
	a.size += int64(len(text))
	return nil
}

// sync returns when all that was appended is on disk.
func (a *appended) sync() error { return a.file.Sync() }

// Close closes the file.
func (a *appended) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.file.Close()
}

// splitTorn parts the whole lines from what follows the last newline.
func splitTorn(data []byte) (whole, torn []byte) {
	end := bytes.LastIndexByte(data, '\n') + 1
	return data[:end], data[end:]
}
