package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrTooLong is returned for a line above the limit; the stream is lost then,
// because nobody knows where the next message starts.
var ErrTooLong = errors.New("message too long")

// SyntaxError is a line that is no message of the wanted type. The line is
// consumed: the next Read goes on with the next one.
type SyntaxError struct {
	Line []byte // without its newline
	Err  error
}

func (e *SyntaxError) Error() string { return "bad message: " + e.Err.Error() }
func (e *SyntaxError) Unwrap() error { return e.Err }

// Reader reads messages, one a line. It is not safe for concurrent use.
type Reader struct {
	buf *bufio.Reader
	max int
}

// NewReader reads lines of at most MaxLine bytes, newline included.
func NewReader(r io.Reader) *Reader { return NewReaderSize(r, MaxLine) }

// NewReaderSize reads lines of at most max bytes, newline included; memory
// grows with the lines that come, not with max.
func NewReaderSize(r io.Reader, max int) *Reader {
	return &Reader{buf: bufio.NewReaderSize(r, min(max, 4096)), max: max}
}

// Read decodes the next line into v, which must be a pointer to a zero value.
// Unknown fields and anything after the message are a SyntaxError. It returns
// io.EOF between messages only, io.ErrUnexpectedEOF within one.
func (r *Reader) Read(v any) error {
	line, err := r.line()
	if err != nil {
		return err
	}
	if err := decode(line, v); err != nil {
		return &SyntaxError{Line: line, Err: err}
	}
	return nil
}

func (r *Reader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.buf.ReadSlice('\n')
		if len(line)+len(part) > r.max {
			return nil, ErrTooLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func decode(line []byte, v any) error {
	if t := bytes.TrimSpace(line); len(t) == 0 || t[0] != '{' {
		return errors.New("not a JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the message")
	}
	return nil
}

// Writer writes messages, one a line, each in one Write of the underlying
// writer. It is safe for concurrent use.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	max int
}

// NewWriter writes lines of at most MaxLine bytes, newline included.
func NewWriter(w io.Writer) *Writer { return NewWriterSize(w, MaxLine) }

// NewWriterSize writes lines of at most max bytes, newline included.
func NewWriterSize(w io.Writer, max int) *Writer { return &Writer{w: w, max: max} }

// Write encodes v. A message that can't be encoded or is too long is an error
// and leaves the stream as it was.
func (w *Writer) Write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	if line = append(line, '\n'); len(line) > w.max {
		return ErrTooLong
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.w.Write(line)
	return err
}
