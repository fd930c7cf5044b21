package formats

import (
	"fmt"
	"strings"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// intercloudSeconds is how long a test of intercloud-throughput lasts: the
// default of iperf 2. Its column bitrate_Bps holds neither bits nor bytes per
// second, but the bytes that were moved in that time.
const intercloudSeconds = 10

// intercloudFormat is a results file of intercloud-throughput.
func intercloudFormat() format {
	t := table{
		columns: []string{"timestamp", "run_id", "from_cloud", "from_region", "to_cloud", "to_region", "bitrate_Bps", "avgrtt"},
		row:     intercloudRow,
	}
	return format{
		kind: "intercloud",
		method: "Goodput is what an iperf 2 client moved in ten seconds, slow start included (the file's bitrate_Bps holds bytes per ten seconds), " +
			"RTT the mean of ping.",
		is: t.is, read: t.read,
	}
}

func intercloudRow(c cells) (results.Row, error) {
	r := results.Row{RunID: c.text("run_id"), Status: results.StatusOK, Streams: new(int64(1)), DurationS: new(float64(intercloudSeconds))}
	at, err := time.Parse(time.RFC3339, c.text("timestamp"))
	if err != nil {
		return r, fmt.Errorf("column timestamp: %q is not a time such as 2022-02-14T08:59:09Z", clipped(c.text("timestamp")))
	}
	r.Timestamp = at.UTC().Format(time.RFC3339)
	if err := intercloudEnds(c, &r); err != nil {
		return r, err
	}
	moved, err := c.number("bitrate_Bps")
	if err != nil {
		return r, err
	}
	if r.RTTMeanMs, err = c.number("avgrtt"); err != nil {
		return r, err
	}
	r.Bytes = new(int64(*moved))
	r.GoodputBps = new(*moved * 8 / intercloudSeconds)
	return r, nil
}

func intercloudEnds(c cells, r *results.Row) error {
	for _, cell := range []struct {
		column string
		to     *string
	}{{"from_cloud", &r.FromCloud}, {"from_region", &r.FromRegion}, {"to_cloud", &r.ToCloud}, {"to_region", &r.ToRegion}} {
		s, err := c.name(cell.column)
		if err != nil {
			return err
		}
		*cell.to = strings.ToLower(s)
	}
	machines := map[string]string{"gcp": c.text("gcp_vm"), "aws": c.text("aws_vm")}
	r.FromMachine, r.ToMachine = machines[r.FromCloud], machines[r.ToCloud]
	return nil
}
