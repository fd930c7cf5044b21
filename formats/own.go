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
			return results.ScanAll(name, r, c.Add, c.AddBad)
		},
	}
}
