package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// BitRate is a flag's number of bits per second: "50M", "2.5Gbit/s" or plain
// "1000000". The prefixes k, M, G and T are powers of 1000.
type BitRate float64

// maxBitRate is more than any network carries.
const maxBitRate = 1e15

// Set takes such a number; another leaves r as it is.
func (r *BitRate) Set(s string) error {
	number := strings.TrimSpace(strings.TrimSuffix(s, "bit/s"))
	factor := 1.0
	for prefix, f := range map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12} {
		if rest, ok := strings.CutSuffix(number, prefix); ok {
			number, factor = strings.TrimSpace(rest), f
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n >= 0 && n*factor <= maxBitRate) {
		return fmt.Errorf("%q is not a rate in bit/s such as 50M, 2.5Gbit/s or 1000000", s)
	}
	*r = BitRate(math.Round(n * factor))
	return nil
}

// String is the number in bit/s.
func (r *BitRate) String() string { return strconv.FormatFloat(float64(*r), 'f', -1, 64) }

// Type is the word for the value in a flag's usage.
func (r *BitRate) Type() string { return "RATE" }
