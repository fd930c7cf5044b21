package providertest

import (
	"os"
	"strings"
	"testing"
)

// Manual is the page that says which permissions a user needs.
type Manual struct {
	t    *testing.T
	text string
}

// ReadManual reads docs/permissions.md, from a cloud's folder.
func ReadManual(t *testing.T) Manual {
	t.Helper()
	text, err := os.ReadFile("../../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	return Manual{t, string(text)}
}

// Block is the page's only code block in a language.
func (m Manual) Block(language string) []byte {
	m.t.Helper()
	_, rest, ok := strings.Cut(m.text, "\n```"+language+"\n")
	block, _, closed := strings.Cut(rest, "\n```\n")
	if !ok || !closed || strings.Contains(rest, "\n```"+language+"\n") {
		m.t.Fatalf("docs/permissions.md has not one block of %s", language)
	}
	return []byte(block)
}

// Rows are what the tables say in their second column, by what they say in the
// first, if that is code and has mark in it.
func (m Manual) Rows(mark string) map[string]string {
	rows := map[string]string{}
	for line := range strings.Lines(m.text) {
		cell := strings.Split(line, "|")
		if len(cell) < 4 {
			continue
		}
		name, ok := strings.CutPrefix(strings.TrimSpace(cell[1]), "`")
		if ok && strings.Contains(name, mark) {
			rows[strings.TrimSuffix(name, "`")] = strings.TrimSpace(cell[2])
		}
	}
	return rows
}
