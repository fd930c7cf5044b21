package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/antipode-bench/antipode/results"
)

// TestGenerated: what is generated are rows that our own reader takes, all
// pairs of them before any is repeated.
func TestGenerated(t *testing.T) {
	var b bytes.Buffer
	if err := write(&b, 6000); err != nil {
		t.Fatal(err)
	}
	s, err := results.NewScanner("generated", &b)
	if err != nil {
		t.Fatal(err)
	}
	rows, pairs := 0, map[[4]string]bool{}
	for {
		r, bad, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil || bad != nil {
			t.Fatal(err, bad)
		}
		rows++
		pairs[[4]string{r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion}] = true
	}
	if rows != 6000 || len(pairs) != 5852 {
		t.Errorf("%d rows of %d pairs, want 6000 of 5852", rows, len(pairs))
	}
}
