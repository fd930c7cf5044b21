package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// percent is a flag's share: "10%" or "10", kept as 0.1.
type percent float64

// Set takes a share above 0 % and up to 100 %; another leaves p as it is.
func (p *percent) Set(s string) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, "%")), 64)
	if err != nil || math.IsNaN(v) || v <= 0 || v > 100 {
		return fmt.Errorf("%q is not a share such as 10%%, above 0 and up to 100", s)
	}
	*p = percent(v / 100)
	return nil
}

// String is empty for no share.
func (p *percent) String() string {
	if *p == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*p)*100, 'g', -1, 64) + "%"
}

// Type is the word for the value in a flag's usage.
func (p *percent) Type() string { return "PERCENT" }
