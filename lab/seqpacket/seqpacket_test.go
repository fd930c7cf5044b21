//go:build linux

package seqpacket

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

type note struct {
	Text string `json:"text"`
}

func pair(t *testing.T) (a, b *Conn) {
	t.Helper()
	a, f, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	if b, err = FromFile(f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func TestFilesRideAlong(t *testing.T) {
	a, b := pair(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := a.Send(note{"one"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Send(note{"two"}, w, r); err != nil {
		t.Fatal(err)
	}
	w.Close()

	var got note
	files, err := b.Receive(&got)
	if err != nil || got.Text != "one" || len(files) != 0 {
		t.Fatalf("Receive = %v, %v, %v; want the first packet alone", got, files, err)
	}
	files, err = b.Receive(&got)
	if err != nil || got.Text != "two" || len(files) != 2 {
		t.Fatalf("Receive = %v, %v, %v; want the second packet and two files", got, files, err)
	}
	if _, err := files[0].WriteString("hi"); err != nil {
		t.Fatal(err)
	}
	CloseAll(files)
	if said, err := io.ReadAll(r); err != nil || string(said) != "hi" {
		t.Errorf("read %q, %v through the passed pipe; want hi", said, err)
	}
}

func TestReceiveFails(t *testing.T) {
	a, b := pair(t)
	if err := a.Send(note{strings.Repeat("x", MaxPacket)}); err == nil {
		t.Error("Send took a packet that is too long")
	}
	if err := a.Send(42); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Receive(&note{}); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("Receive of a number as a note = %v; want an error that is not EOF", err)
	}
	a.Close()
	if _, err := b.Receive(&note{}); err != io.EOF {
		t.Errorf("Receive after the other end closed = %v; want io.EOF", err)
	}
}
