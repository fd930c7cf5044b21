package results

// The shapes of cells, by hand where a million rows are read: a regular
// expression takes ten times as long.

// isPlainNumber is true of plain decimals: no sign, exponent, leading zero or
// separator.
func isPlainNumber(s string) bool {
	whole := digitsOf(s)
	if !isPlainWhole(s[:whole]) {
		return false
	}
	if whole == len(s) {
		return true
	}
	if s[whole] != '.' {
		return false
	}
	digits := digitsOf(s[whole+1:])
	return digits > 0 && whole+1+digits == len(s)
}

// isPlainWhole is true of plain whole numbers.
func isPlainWhole(s string) bool {
	return s != "" && digitsOf(s) == len(s) && (s[0] != '0' || len(s) == 1)
}

// digitsOf is how many digits s begins with.
func digitsOf(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// shape is what a text has or not: a form, or a regexp.Regexp.
type shape interface{ MatchString(string) bool }

type form func(string) bool

// MatchString reports whether s has the shape.
func (f form) MatchString(s string) bool { return f(s) }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// isNameText is [A-Za-z0-9][A-Za-z0-9._-]*.
func isNameText(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !isLetter(c) && !isDigit(c) && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return s != ""
}

// isRunID is [a-z0-9-]{1,40}.
func isRunID(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isDigit(c) && c != '-' && !(c >= 'a' && c <= 'z') {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 40
}
