package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// iperf3Format is what iperf3 -J prints: a JSON object for each test, one after
// the other.
func iperf3Format() format {
	return format{
		kind: "iperf3",
		method: "Goodput is what the iperf3 server, or with -R the client, received, slow start included unless it was omitted (-O). " +
			"Round trips of TCP under load are no RTT here.",
		is:   isIperf3,
		read: readIperf3,
	}
}

func isIperf3(start []byte) bool {
	start = bytes.TrimSpace(start)
	return bytes.HasPrefix(start, []byte("{")) && bytes.Contains(start, []byte(`"start"`)) &&
		(bytes.Contains(start, []byte(`"connected"`)) || bytes.Contains(start, []byte(`"intervals"`)))
}

// iperfTest is the part of a test that is used.
type iperfTest struct {
	Start struct {
		Connected []struct {
			Local  string `json:"local_host"`
			Remote string `json:"remote_host"`
		} `json:"connected"`
		Timestamp struct {
			Seconds int64 `json:"timesecs"`
		} `json:"timestamp"`
		To       iperfHost `json:"connecting_to"`       // of a client
		Accepted iperfHost `json:"accepted_connection"` // of a server
		MSS      int64     `json:"tcp_mss_default"`
		Test     struct {
			Protocol string  `json:"protocol"`
			Streams  int64   `json:"num_streams"`
			Block    int64   `json:"blksize"`
			Target   float64 `json:"target_bitrate"`
			Reverse  int     `json:"reverse"`
			Bidir    int     `json:"bidir"`
		} `json:"test_start"`
	} `json:"start"`
	End struct {
		Received   *iperfSum `json:"sum_received"`
		UDP        *iperfSum `json:"sum"`
		Congestion string    `json:"sender_tcp_congestion"`
	} `json:"end"`
	Error string `json:"error"`
}

type iperfHost struct {
	Host string `json:"host"`
}

type iperfSum struct {
	Seconds  float64 `json:"seconds"`
	Bytes    float64 `json:"bytes"`
	Bps      float64 `json:"bits_per_second"`
	JitterMs float64 `json:"jitter_ms"`
	Lost     float64 `json:"lost_packets"`
	Packets  float64 `json:"packets"`
}

func readIperf3(name string, r io.Reader, c *counted) error {
	lines := &lineReader{r: r}
	dec := json.NewDecoder(lines)
	for {
		line := lines.at(dec.InputOffset()) // the object before ends here
		var t iperfTest
		err := dec.Decode(&t)
		var syntax *json.SyntaxError
		var typed *json.UnmarshalTypeError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &syntax):
			c.AddBad(results.BadRow{File: name, Line: lines.at(syntax.Offset), Reason: "not JSON: " + err.Error()})
			return nil // there is no knowing where the next one begins
		case err == io.ErrUnexpectedEOF:
			c.AddBad(results.BadRow{File: name, Line: line, Reason: "the object that begins here has no end"})
			return nil
		case errors.As(err, &typed):
			c.AddBad(results.BadRow{File: name, Line: line, Reason: fmt.Sprintf("%s is a %s", typed.Field, typed.Value)})
			continue
		case err != nil:
			return fmt.Errorf("read %s: %w", name, err)
		}
		row, err := t.row()
		if err != nil {
			c.AddBad(results.BadRow{File: name, Line: line, Reason: err.Error()})
			continue
		}
		c.Add(row)
	}
}

// row is an error for what is no measurement of one direction.
func (t *iperfTest) row() (results.Row, error) {
	r := results.Row{Status: results.StatusOK, FromCloud: hostCloud, ToCloud: hostCloud}
	local, remote := "", t.Start.To.Host
	if len(t.Start.Connected) > 0 {
		local = t.Start.Connected[0].Local
		if remote == "" {
			remote = t.Start.Connected[0].Remote
		}
	}
	serves := t.Start.To.Host == "" && t.Start.Accepted.Host != ""
	r.FromRegion, r.ToRegion = hostName(local, "here"), hostName(remote, "there")
	if (t.Start.Test.Reverse != 0) != serves {
		r.FromRegion, r.ToRegion = r.ToRegion, r.FromRegion
	}
	if s := t.Start.Timestamp.Seconds; s > 0 {
		r.Timestamp = time.Unix(s, 0).UTC().Format(time.RFC3339)
	}
	switch {
	case t.Error != "":
		r.Status, r.Error = results.StatusFailed, strings.Join(strings.Fields(t.Error), " ")
		return r, nil
	case t.Start.Test.Bidir != 0:
		return r, errors.New("a test of both directions at once (--bidir) is not read: its sums mix them")
	case t.Start.Test.Protocol == "UDP":
		return r, t.udp(&r)
	}
	return r, t.tcp(&r)
}

func (t *iperfTest) tcp(r *results.Row) error {
	sum := t.End.Received
	if sum == nil || !(sum.Seconds > 0) || !(sum.Bps >= 0) || !(sum.Bytes >= 0) {
		return errors.New("end.sum_received is missing: how much arrived is not known")
	}
	r.GoodputBps, r.GoodputMeanBps, r.DurationS, r.Bytes = &sum.Bps, &sum.Bps, &sum.Seconds, new(int64(sum.Bytes))
	if results.IsName(t.End.Congestion) {
		r.CongestionControl = t.End.Congestion
	}
	if t.Start.MSS > 0 {
		r.MSSBytes = &t.Start.MSS
	}
	if t.Start.Test.Streams > 0 {
		r.Streams = &t.Start.Test.Streams
	}
	return nil
}

func (t *iperfTest) udp(r *results.Row) error {
	sum := t.End.Received // of newer versions, counted by the receiver
	if sum == nil || sum.Packets == 0 {
		sum = t.End.UDP
	}
	if sum == nil || !(sum.Seconds > 0) || !(sum.Packets > 0) || sum.Lost < 0 || sum.Lost > sum.Packets || !(sum.Bps >= 0) {
		return errors.New("end.sum is missing: how many datagrams arrived is not known")
	}
	loss := sum.Lost / sum.Packets
	r.UDPLossRatio, r.UDPJitterMs = &loss, &sum.JitterMs
	r.UDPPacketsPerS = new((sum.Packets - sum.Lost) / sum.Seconds)
	r.UDPGoodputBps = new(*r.UDPPacketsPerS * 8 * float64(t.Start.Test.Block))
	r.UDPDatagramBytes, r.UDPTargetBps = &t.Start.Test.Block, &t.Start.Test.Target
	return nil
}

// hostCloud is the cloud of machines that are of none, as in sweeps of hosts.
const hostCloud = "hosts"

// hostName makes an address, or a host's name, one that a region can have.
func hostName(host, otherwise string) string {
	if strings.Contains(host, ":") {
		host = "ip6-" + strings.ReplaceAll(host, ":", "-")
	}
	host, _, _ = strings.Cut(host, "%") // an IPv6 zone
	if !results.IsName(host) {
		return otherwise
	}
	return host
}

// lineReader remembers where lines begin.
type lineReader struct {
	r    io.Reader
	read int64
	ends []int64 // offsets after each newline
}

func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			l.ends = append(l.ends, l.read+int64(i)+1)
		}
	}
	l.read += int64(n)
	return n, err
}

// at is the line, from 1, of an offset that was read.
func (l *lineReader) at(offset int64) int {
	line := 1
	for _, end := range l.ends {
		if end > offset {
			break
		}
		line++
	}
	return line
}
