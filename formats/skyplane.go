package formats

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/results"
)

// skyplaneThroughput is a throughput grid of skyplane's profiler. What its
// iperf3 clients sent is up to half as much again as what arrived, so the
// received column counts, which the tool spells "recieved".
func skyplaneThroughput() format {
	t := table{columns: []string{"src_region", "dst_region", "iperf3_connections", "iperf3_runtime", "throughput_recieved", "success"}, row: skyplaneRate}
	return format{
		kind:   "skyplane-throughput",
		method: "Goodput is what an iperf3 server received in a test of many connections, slow start included; there is no RTT.",
		is:     t.is, read: t.read,
	}
}

// skyplaneLatency is a latency grid of skyplane's profiler. Some of its rows
// have one region at both ends.
func skyplaneLatency() format {
	t := table{columns: []string{"src_region", "dst_region", "min_rtt", "avg_rtt", "max_rtt", "mdev_rtt"}, row: skyplaneRTT}
	return format{
		kind:   "skyplane-latency",
		method: "RTT is the mean of ping; there is no goodput.",
		is:     t.is, read: t.read,
	}
}

func skyplaneRate(c cells) (results.Row, error) {
	r := results.Row{Status: results.StatusOK}
	if err := skyplaneEnds(c, &r); err != nil {
		return r, err
	}
	switch success := c.text("success"); strings.ToLower(success) {
	case "false":
		r.Status, r.Error = results.StatusFailed, "the file says that the test did not succeed"
		return r, nil
	case "true":
	default:
		return r, fmt.Errorf("column success: %q is not True or False", clipped(success))
	}
	streams, err := c.number("iperf3_connections")
	if err != nil {
		return r, err
	}
	if r.DurationS, err = c.number("iperf3_runtime"); err != nil {
		return r, err
	}
	r.Streams = new(int64(*streams))
	r.GoodputBps, err = c.number("throughput_recieved")
	return r, err
}

func skyplaneRTT(c cells) (results.Row, error) {
	r := results.Row{Status: results.StatusOK}
	if err := skyplaneEnds(c, &r); err != nil {
		return r, err
	}
	for _, cell := range []struct {
		column string
		to     **float64
	}{{"min_rtt", &r.RTTMinMs}, {"avg_rtt", &r.RTTMeanMs}, {"mdev_rtt", &r.RTTStddevMs}} {
		if cell.column == "mdev_rtt" && c.text(cell.column) == "" {
			continue // not every ping prints it
		}
		v, err := c.number(cell.column)
		if err != nil {
			return r, err
		}
		*cell.to = v
	}
	if *r.RTTMinMs > *r.RTTMeanMs {
		return r, fmt.Errorf("column min_rtt: %v is above the mean, %v", *r.RTTMinMs, *r.RTTMeanMs)
	}
	return r, nil
}

func skyplaneEnds(c cells, r *results.Row) (err error) {
	if r.FromCloud, r.FromRegion, r.FromZone, err = skyplanePlace(c, "src_region"); err != nil {
		return err
	}
	if r.ToCloud, r.ToRegion, r.ToZone, err = skyplanePlace(c, "dst_region"); err != nil {
		return err
	}
	r.FromMachine, r.ToMachine = c.text("src_instance_class"), c.text("dst_instance_class")
	tier := ""
	switch "gcp" {
	case r.FromCloud:
		tier = c.text("src_tier")
	case r.ToCloud:
		tier = c.text("dst_tier")
	}
	if tier = strings.ToLower(tier); slices.Contains([]string{"premium", "standard"}, tier) {
		r.NetworkTier = tier
	}
	return nil
}

// zoneForm is a Google Cloud zone: its region and a letter.
var zoneForm = regexp.MustCompile(`^([a-z]+-[a-z]+[0-9]+)-[a-z]$`)

// skyplanePlace takes "cloud:region" apart, where Google Cloud's are zones.
func skyplanePlace(c cells, column string) (cloud, region, zone string, err error) {
	cloud, region, ok := antipode.SplitID(c.text(column))
	if !ok || !results.IsName(cloud) || !results.IsName(region) {
		return "", "", "", fmt.Errorf("column %s: %q is not cloud:region", column, clipped(c.text(column)))
	}
	if m := zoneForm.FindStringSubmatch(region); m != nil && cloud == "gcp" {
		return cloud, m[1], region, nil
	}
	return cloud, region, "", nil
}
