package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ByteCount is a flag's number of bytes: "10MB", "1.5GB", "64KiB" or plain
// "1000000". Decimal prefixes are powers of 1000, binary ones of 1024.
type ByteCount int64

var byteUnits = []struct {
	suffix string
	factor float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
}

// Set takes such a number of at most a pebibyte; another leaves b as it is.
func (b *ByteCount) Set(s string) error {
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(n) || n < 0 || n*u.factor > 1<<50 {
			break
		}
		*b = ByteCount(math.Round(n * u.factor))
		return nil
	}
	return fmt.Errorf("%q is not a number of bytes such as 10MB, 1.5GB or 64KiB", s)
}

// String is the number in bytes.
func (b *ByteCount) String() string { return strconv.FormatInt(int64(*b), 10) }

// Type is the word for the value in a flag's usage.
func (b *ByteCount) Type() string { return "BYTES" }

// Bytes writes a number of bytes: "640 GB", "12.5 MB", "0 B".
func Bytes(n float64) string {
	for _, p := range []struct {
		factor float64
		prefix string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= p.factor*0.9995 { // 999.5 would round to 1000
			return figure(n/p.factor) + " " + p.prefix + "B"
		}
	}
	return figure(n) + " B"
}
