package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// ifLeft tells how to remove what a run may have left behind.
func (f *sweepFlags) ifLeft(runID string, clouds []string) string {
	if f.labName == ownLab {
		return "the lab ends with this command, and everything in it"
	}
	return "remove what may be left with: " + f.cleanupCommand(os.Args[0], runID, clouds)
}

// cleanupCommand is the command that removes the run, for a shell: in the same
// lab or the same accounts, with antipode as it was called.
func (f *sweepFlags) cleanupCommand(antipode, runID string, clouds []string) string {
	words := []string{antipode, "cleanup", "--run", runID, "--clouds", strings.Join(clouds, ",")}
	for _, flag := range [][2]string{
		{"lab", f.labName}, {"aws-profile", f.awsProfile}, {"aws-role", f.awsRole}, {"gcp-project", f.gcpProject}, {"regions-file", f.lab.regionsFile},
	} {
		if flag[1] != "" {
			words = append(words, fmt.Sprintf("--%s=%s", flag[0], flag[1]))
		}
	}
	for i, word := range words {
		words[i] = quote(word)
	}
	return strings.Join(words, " ")
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quote makes a word one for a shell.
func quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
