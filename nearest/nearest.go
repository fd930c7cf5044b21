// Package nearest guesses which of the names that there are somebody meant.
package nearest

// Of returns the name of known that takes the fewest edits to become name: the
// first of several, empty if nothing is known.
func Of(name string, known []string) string {
	best, fewest := "", 0
	for i, k := range known {
		if n := edits(name, k); i == 0 || n < fewest {
			best, fewest = k, n
		}
	}
	return best
}

// edits is the Levenshtein distance: the fewest insertions, deletions and
// replacements of bytes that make b of a.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
