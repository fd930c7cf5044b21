package trace

import (
	"encoding/json"
	"errors"
	"time"
)

// Point is a moment of a transfer: how many bytes there were by then. As JSON it
// is the pair [microseconds, bytes].
type Point struct {
	At    time.Duration // since the first byte
	Bytes int64
}

// MarshalJSON writes the pair.
func (p Point) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]int64{p.At.Microseconds(), p.Bytes})
}

// UnmarshalJSON reads a pair, and nothing else.
func (p *Point) UnmarshalJSON(b []byte) error {
	var pair []int64
	if err := json.Unmarshal(b, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return errors.New("a point is [microseconds, bytes]")
	}
	p.At, p.Bytes = time.Duration(pair[0])*time.Microsecond, pair[1]
	return nil
}
