package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/results"
)

// generate writes so many rows: repetitions of all directed pairs of AWS's and
// Google Cloud's commercial regions, some of which failed.
func generate(path string, rows int) (size int64, err error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	err = errors.Join(write(file, rows), file.Close())
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func write(w io.Writer, rows int) error {
	buffered := bufio.NewWriter(w)
	lines := csv.NewWriter(buffered)
	columns := results.Columns()
	at := map[string]int{}
	for i, column := range columns {
		at[column] = i
	}
	if err := lines.Write(columns); err != nil {
		return err
	}
	pairs := allPairs()
	rng := rand.New(rand.NewPCG(1, 2))
	cells := make([]string, len(columns))
	for i := range rows {
		clear(cells)
		for column, value := range cellsOf(pairs[i%len(pairs)], i/len(pairs), rng) {
			cells[at[column]] = value
		}
		if err := lines.Write(cells); err != nil {
			return err
		}
	}
	lines.Flush()
	return errors.Join(lines.Error(), buffered.Flush())
}

type pair struct{ from, to antipode.Region }

func allPairs() (pairs []pair) {
	var regions []antipode.Region
	for _, r := range antipode.Regions() {
		if r.Cloud != "azure" && r.Partition == "" {
			regions = append(regions, r)
		}
	}
	for _, from := range regions {
		for _, to := range regions {
			if from.ID() != to.ID() {
				pairs = append(pairs, pair{from, to})
			}
		}
	}
	return pairs
}

// cellsOf is one row by its columns.
func cellsOf(p pair, repetition int, rng *rand.Rand) map[string]string {
	km := antipode.DistanceKm(p.from, p.to)
	cells := map[string]string{
		"run_id": fmt.Sprintf("run-%04d", repetition), "timestamp": time.Unix(1796040000+int64(repetition)*3600, 0).UTC().Format(time.RFC3339),
		"status": "ok", "from_cloud": p.from.Cloud, "from_region": p.from.Name, "to_cloud": p.to.Cloud, "to_region": p.to.Name,
		"from_machine": "t3.nano", "to_machine": "e2-small", "path": "public", "ip_version": "4", "distance_km": strconv.FormatFloat(km, 'f', 3, 64),
	}
	if rng.IntN(200) == 0 {
		cells["status"], cells["error"] = "failed", "no answer"
		return cells
	}
	rtt := 1 + antipode.FibreRTTMs(km)*(1.5+0.3*rng.Float64())
	rate := 2e9 * math.Exp(-rtt/120) * (0.8 + 0.4*rng.Float64())
	for column, v := range map[string]float64{"rtt_min_ms": rtt, "rtt_mean_ms": rtt + 0.1, "rtt_p50_ms": rtt + 0.05, "rtt_p99_ms": rtt + 1} {
		cells[column] = strconv.FormatFloat(v, 'f', 3, 64)
	}
	cells["goodput_bps"], cells["streams"], cells["congestion_control"] = strconv.FormatFloat(rate, 'f', 0, 64), "1", "cubic"
	cells["bytes"], cells["duration_s"], cells["mss_bytes"] = strconv.FormatFloat(rate, 'f', 0, 64), "8.000000", "1448"
	return cells
}
