package lab

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// brokenLog fails as a pipe without a reader does.
type brokenLog struct{ written func() }

func (b brokenLog) Write([]byte) (int, error) {
	b.written()
	return 0, io.ErrClosedPipe
}

// TestBrokenLog: a log that can't be written to does not shut the inner's mouth,
// which would end it.
func TestBrokenLog(t *testing.T) {
	wait, failed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer wait.Close()
	l := launch{
		command: []string{"/bin/sh", "-c", "echo before; read x <&3; echo after"},
		files:   []*os.File{wait},
		log:     brokenLog{func() { failed.Close() }},
	}
	p, err := l.start()
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Unwrap(p.wait())
	if said := p.tail.String(); !strings.Contains(said, "before") || !strings.Contains(said, "after") {
		t.Errorf("kept %q; want what was said after the log had failed too (%v)", said, err)
	}
}
