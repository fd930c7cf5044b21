package formats

import (
	"bytes"
	"io"

	"github.com/antipode-bench/antipode/results"
)

// antipodeFormat is our own results.csv, of any version.
func antipodeFormat() format {
	return format{
		kind: "antipode",
		method: "Goodput is TCP payload counted by the receiver after slow start, RTT the median of UDP probes sent while no throughput test " +
			"ran on either machine.",
		is: func(start []byte) bool { return bytes.HasPrefix(start, []byte("run_id,timestamp,status,")) },
		read: func(name string, r io.Reader, c *counted) error {
			s, err := results.NewScanner(name, r)
			if err != nil {
				return err
			}
			for {
				row, bad, err := s.Next()
				switch {
				case err == io.EOF:
					return nil
				case err != nil:
					return err
				case bad != nil:
					c.AddBad(*bad)
				default:
					c.Add(row)
				}
			}
		},
	}
}
