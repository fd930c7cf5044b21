package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The committed bundle is what its source makes, byte for byte.
func TestBundleMatchesItsSource(t *testing.T) {
	files, err := build("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "dist", name))
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("dist/%s is not made of web/src: run go run . in page/bundle (%d bytes, want %d)", name, len(got), len(want))
		}
	}
}
