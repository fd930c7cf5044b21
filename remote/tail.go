package remote

import (
	"strings"
	"sync"
)

// tailSize is how much of a command's standard error is kept, in bytes.
const tailSize = 2048

// tail keeps the end of what is written to it. Safe for concurrent use.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p[max(0, len(p)-tailSize):]...)
	if extra := len(t.buf) - tailSize; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(p), nil
}

// String is the tail as one line of an error.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.FieldsFunc(strings.ToValidUTF8(string(t.buf), "?"), func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines, "; ")
}
