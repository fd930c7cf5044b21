package orchestrator

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// NewRunID names a run: when it began, in UTC, and four random characters
// against a second run of the same second, for example
// "20261130t172233z-ab12". Names sort by time.
func NewRunID(now time.Time, random io.Reader) (string, error) {
	const letters = "abcdefghijkmnpqrstuvwxyz23456789" // 32, none mistaken for another
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("name the run: %w", err)
	}
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return strings.ToLower(now.UTC().Format("20060102T150405Z")) + "-" + string(b[:]), nil
}
