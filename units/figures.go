package units

import (
	"strconv"
	"strings"
)

// Kilometres writes a distance without its unit, in whole km with separated
// thousands: "16,984".
func Kilometres(km float64) string { return Thousands(strconv.FormatFloat(km, 'f', 0, 64)) }

// Thousands puts commas into the whole part of a decimal number that is not
// negative.
func Thousands(number string) string {
	whole, fraction, dotted := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		return whole + "." + fraction
	}
	return whole
}

// Milliseconds writes a time: "212 ms", "8.41 ms", "0.093 ms".
func Milliseconds(ms float64) string { return figure(ms) + " ms" }

// Rate writes a data rate, given in bit/s, in decimal units: "94.2 Mbit/s".
func Rate(bps float64) string {
	units := []string{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"}
	unit := 0
	for unit < len(units)-1 && bps >= 999.5 { // 999.5 would round to 1000
		bps /= 1000
		unit++
	}
	return figure(bps) + " " + units[unit]
}

// figure keeps three digits, but none after the third decimal.
func figure(v float64) string {
	decimals := 3
	switch {
	case v == 0:
		decimals = 0
	case v >= 99.95:
		decimals = 0
	case v >= 9.995:
		decimals = 1
	case v >= 0.9995:
		decimals = 2
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
