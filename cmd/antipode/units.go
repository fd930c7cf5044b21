package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteCount is a flag's number of bytes: "10MB", "1.5GB", "64KiB" or plain
// "1000000". Decimal prefixes are powers of 1000, binary ones of 1024.
type byteCount int64

var byteUnits = []struct {
	suffix string
	factor float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
}

func (b *byteCount) Set(s string) error {
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(n) || n < 0 || n*u.factor > 1<<50 {
			break
		}
		*b = byteCount(math.Round(n * u.factor))
		return nil
	}
	return fmt.Errorf("%q is not a number of bytes such as 10MB, 1.5GB or 64KiB", s)
}

func (b *byteCount) String() string { return strconv.FormatInt(int64(*b), 10) }
func (b *byteCount) Type() string   { return "BYTES" }

// humanBytes prints n with a decimal prefix and three digits.
func humanBytes(n float64) string {
	for _, p := range []struct {
		factor float64
		prefix string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= p.factor*0.9995 {
			return threeDigits(n/p.factor) + " " + p.prefix + "B"
		}
	}
	return threeDigits(n) + " B"
}

func threeDigits(x float64) string {
	switch a := math.Abs(x); {
	case a >= 99.95 || a == 0:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}
