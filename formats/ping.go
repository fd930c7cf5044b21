package formats

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/antipode-bench/antipode/results"
)

// pingFormat is what the ping of Linux (iputils, busybox), macOS and the BSDs
// prints, of one host or several one after the other.
func pingFormat() format {
	return format{
		kind:   "ping",
		method: "RTT is that of ICMP echoes, the median where each answer is listed; there is no goodput.",
		is: func(start []byte) bool {
			line, _, _ := bytes.Cut(bytes.TrimSpace(start), []byte("\n"))
			return pingHead.Match(line)
		},
		read: readPing,
	}
}

var (
	pingHead    = regexp.MustCompile(`^PING6?\s*(?:\([^)]*\)\s+\S+\s+-->\s+)?([^\s(]+).*\bbytes\b|^PING6\([^)]*bytes\)\s+\S+\s+-->\s+(\S+)`)
	pingAnswer  = regexp.MustCompile(`\btime[=<]([0-9.]+) ?ms(.*)$`)
	pingCounts  = regexp.MustCompile(`^([0-9]+) packets transmitted, ([0-9]+) (?:packets )?received`)
	pingSummary = regexp.MustCompile(`min/avg/max(?:/(?:mdev|stddev|std-dev))? = ([0-9.]+)/([0-9.]+)/([0-9.]+)(?:/([0-9.]+))? ms`)
)

// pingRun is one host's part of the text.
type pingRun struct {
	host           string
	line           int
	times          []float64 // ms, each answer once
	duplicates     int64
	sent, received int64     // -1: the text does not say
	summary        []float64 // least, mean, most and deviation, as far as the text has them
}

func readPing(name string, r io.Reader, c *counted) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	var run *pingRun
	end := func() {
		if run == nil {
			return
		}
		row, err := run.row()
		if err != nil {
			c.AddBad(results.BadRow{File: name, Line: run.line, Reason: err.Error()})
			return
		}
		c.Add(row)
	}
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if m := pingHead.FindStringSubmatch(text); m != nil {
			end()
			run = &pingRun{host: m[1] + m[2], line: n, sent: -1, received: -1}
		} else if run != nil {
			run.take(text)
		}
	}
	end()
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

func (p *pingRun) take(text string) {
	if m := pingAnswer.FindStringSubmatch(text); m != nil {
		ms, err := strconv.ParseFloat(m[1], 64)
		switch {
		case err != nil:
		case bytes.Contains([]byte(m[2]), []byte("DUP")):
			p.duplicates++
		default:
			p.times = append(p.times, ms)
		}
	}
	if m := pingCounts.FindStringSubmatch(text); m != nil {
		p.sent, _ = strconv.ParseInt(m[1], 10, 64) // digits; too many are the most
		p.received, _ = strconv.ParseInt(m[2], 10, 64)
	}
	if m := pingSummary.FindStringSubmatch(text); m != nil {
		p.summary = nil
		for _, figure := range m[1:] {
			if v, err := strconv.ParseFloat(figure, 64); err == nil {
				p.summary = append(p.summary, v)
			}
		}
	}
}

// row is an error where the text breaks off before it says anything.
func (p *pingRun) row() (results.Row, error) {
	r := results.Row{Status: results.StatusOK, FromCloud: hostCloud, FromRegion: "here", ToCloud: hostCloud, ToRegion: hostName(p.host, "there")}
	if p.sent > 0 {
		r.RTTProbes = &p.sent
		r.RTTLossRatio = new(1 - float64(min(p.received, p.sent))/float64(p.sent))
	}
	switch {
	case p.sent > 0 && p.received == 0:
		return results.Row{Status: results.StatusFailed, Error: fmt.Sprintf("no answer to %d packets", p.sent),
			FromCloud: r.FromCloud, FromRegion: r.FromRegion, ToCloud: r.ToCloud, ToRegion: r.ToRegion}, nil
	case len(p.times) == 0 && len(p.summary) < 3:
		return r, fmt.Errorf("ping of %s: neither answers nor a summary follow", clipped(p.host))
	}
	if p.duplicates > 0 {
		r.RTTDuplicates = &p.duplicates
	}
	p.figures(&r)
	return r, nil
}

// figures takes those of the answers, and the summary's where they are not
// listed.
func (p *pingRun) figures(r *results.Row) {
	if len(p.times) == 0 {
		r.RTTMinMs, r.RTTMeanMs = &p.summary[0], &p.summary[1]
		if len(p.summary) > 3 {
			r.RTTStddevMs = &p.summary[3]
		}
		return
	}
	slices.Sort(p.times)
	n := len(p.times)
	r.RTTMinMs, r.RTTMeanMs = &p.times[0], new(stat.Mean(p.times, nil))
	r.RTTP50Ms = new((p.times[(n-1)/2] + p.times[n/2]) / 2)
	if n >= 100 {
		r.RTTP99Ms = new(stat.Quantile(0.99, stat.Empirical, p.times, nil))
	}
	if sd := math.Sqrt(stat.PopVariance(p.times, nil)); n > 1 && !math.IsNaN(sd) {
		r.RTTStddevMs = &sd
	}
}
