package trace

import (
	"math"
	"strings"
	"testing"
	"time"
)

const simulatedRTT = 40 * time.Millisecond

// steadily is a test of three seconds at 100 Mbit/s behind a queue of 10 ms,
// with windows that are large enough, changed by each of the edits.
func steadily(edits ...func(s *Sample)) Log {
	const full = 12.5e6
	l := simulate(3*time.Second, simulatedRTT, slowStart(simulatedRTT, full))
	for i := range l {
		s := &l[i]
		s.SRTT, s.MinRTT = simulatedRTT+10*time.Millisecond, simulatedRTT
		s.Sent, s.Window, s.PeerWindow = s.Acked+625_000, 700_000, 3_000_000
		s.Unacked, s.Unsent, s.SendBuffer = 625_000, 1_250_000, 4_000_000
		for _, edit := range edits {
			edit(s)
		}
	}
	return l
}

// steadyOf takes a log of nothing, too.
func steadyOf(l Log) Part {
	if len(l) == 0 {
		return Part{}
	}
	return l.Steady()
}

func noQueue(s *Sample) { s.SRTT = s.MinRTT }

// wavers takes away every other 100 ms.
func wavers(s *Sample) {
	half := s.At % (200 * time.Millisecond)
	whole := s.At - half
	s.Acked = int64(12.5e6 * (whole + min(half, 100*time.Millisecond)).Seconds())
	s.Sent = s.Acked + 625_000
}

func repeats(share float64) func(*Sample) {
	return func(s *Sample) { s.Repeated = int64(share * float64(s.Sent)) }
}

func TestLimit(t *testing.T) {
	const bbr, cubic = "bbr", "cubic"
	idle := func(s *Sample) { s.Unsent = 0 }
	tests := []struct {
		name, congestion string
		log              Log
		from, to         Host
		want, evidence   string
	}{
		{"queue", cubic, steadily(), Host{}, Host{}, LimitRateCap, "queue of 10 ms"},
		{"reno's queue", "reno", steadily(), Host{}, Host{}, LimitRateCap, "queue of 10 ms"},
		{"paced", bbr, steadily(noQueue), Host{}, Host{}, LimitRateCap, "bbr paced to 100 Mbit/s"},
		{"bbr's newer version", "bbr3", steadily(noQueue, wavers), Host{}, Host{}, LimitRateCap, "paced"},
		{"even rate", cubic, steadily(noQueue), Host{}, Host{}, LimitRateCap, "100 % of their 95th percentile"},
		{"loss", cubic, steadily(noQueue, wavers, repeats(.01)), Host{}, Host{}, LimitLoss, "1 % of the bytes"},
		{"bbr, heavy loss", bbr, steadily(noQueue, wavers, repeats(.3)), Host{}, Host{}, LimitLoss, "30 % of the bytes"},
		{"bbr, some loss", bbr, steadily(noQueue, wavers, repeats(.05)), Host{}, Host{}, LimitRateCap, "5 % sent again"},
		{"nothing to see", cubic, steadily(noQueue, wavers), Host{}, Host{}, LimitUnknown, "no standing queue"},
		{"window grows", cubic, steadily(noQueue, wavers, func(s *Sample) {
			s.Window += int64(1e5 * s.At.Seconds())
		}), Host{}, Host{}, LimitSlowStart, "window grew by"},
		{"too short", cubic, simulate(time.Second, 200*time.Millisecond, slowStart(200*time.Millisecond, 1e9)), Host{}, Host{}, LimitSlowStart, "still grew"},
		{"receive window", cubic, steadily(func(s *Sample) { s.ReceiveWindowFor = s.At / 2 }), Host{}, Host{}, LimitReceiveWindow, "held back 50 %"},
		{"window that holds a queue down", cubic, steadily(func(s *Sample) {
			s.SRTT, s.ReceiveWindowFor = s.MinRTT+20*time.Millisecond, s.At/2
		}), Host{}, Host{}, LimitRateCap, "queue of 20 ms"},
		{"receive window under bbr", bbr, steadily(noQueue, func(s *Sample) {
			s.PeerWindow, s.Unacked, s.ReceiveWindowFor = 500_000, 490_000, s.At/5
		}), Host{}, Host{}, LimitReceiveWindow, "98 % of the receiver's window"},
		{"send buffer time", cubic, steadily(func(s *Sample) { s.SendBufferFor = s.At / 5 }), Host{}, Host{}, LimitSendBuffer, "20 % of the time"},
		{"send buffer full", cubic, steadily(idle, func(s *Sample) { s.SendBuffer = 700_000 }), Host{}, Host{}, LimitSendBuffer, "100 % of the samples"},
		{"slow source's rest", cubic, steadily(func(s *Sample) { s.Unsent = 1447 }), Host{}, Host{}, LimitApplication, "nothing was waiting"},
		{"slow source", cubic, steadily(idle), Host{}, Host{}, LimitApplication, "nothing was waiting"},
		{"sender's CPU", cubic, steadily(idle), Host{CPUs: 2, OwnCPUs: .95}, Host{}, LimitCPU, "sender: own threads ran 95 %"},
		{"receiver's CPU", cubic, steadily(func(s *Sample) { s.ReceiveWindowFor = s.At / 2 }), Host{},
			Host{CPUs: 2, OwnCPUs: .6, WaitingCPUs: .4}, LimitCPU, "receiver: own threads ran 60 % of the time of 1 CPUs and waited for one 40 %"},
		{"stolen CPU", cubic, steadily(), Host{CPUs: 1, OwnCPUs: .45, StealRatio: .5}, Host{}, LimitCPU, "50 % stolen"},
		{"interrupts", cubic, steadily(), Host{}, Host{CPUs: 8, SoftIRQRatio: .97}, LimitCPU, "receiver: interrupts took 97 %"},
		{"others are busy", cubic, steadily(), Host{CPUs: 2, CPURatio: 1, OwnCPUs: .1, WaitingCPUs: 1}, Host{}, LimitRateCap, "queue"},
		{"idle for want of a CPU", cubic, steadily(idle), Host{CPUs: 2, OwnCPUs: .1, WaitingCPUs: 1.5}, Host{}, LimitCPU, "waited for one 150 %"},
		{"uneven for want of a CPU", bbr, steadily(noQueue, wavers), Host{}, Host{CPUs: 2, OwnCPUs: .1, WaitingCPUs: 1}, LimitCPU, "receiver: own threads ran 10 %"},
		{"uneven, and idle", bbr, steadily(noQueue, wavers), Host{CPUs: 2, OwnCPUs: .4}, Host{CPUs: 2, OwnCPUs: .4}, LimitRateCap, "paced"},
		{"no samples", cubic, nil, Host{}, Host{}, LimitUnknown, "too few samples"},
		{"few samples", cubic, steadily()[:4], Host{}, Host{}, LimitUnknown, "too few samples"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.log.Limit(steadyOf(tt.log), Facts{CongestionControl: tt.congestion, MSS: 1448, Streams: 1, From: &tt.from, To: &tt.to})
			if got.By != tt.want || !strings.Contains(got.Evidence, tt.evidence) {
				t.Errorf("%s: %q; want %s: ... %s", got.By, got.Evidence, tt.want, tt.evidence)
			}
		})
	}
}

// TestSlowSourceOnABusyComputer: what was told to be slow does not starve.
func TestSlowSourceOnABusyComputer(t *testing.T) {
	log := steadily(func(s *Sample) { s.Unsent = 0 })
	waits := Host{CPUs: 2, OwnCPUs: .05, WaitingCPUs: 2}
	for bps, want := range map[float64]string{0: LimitCPU, 100e6: LimitApplication} {
		if got := log.Limit(steadyOf(log), Facts{MSS: 1448, Streams: 1, RateBps: bps, From: &waits}); got.By != want {
			t.Errorf("told %v bit/s: %+v, want %s", bps, got, want)
		}
	}
}

// TestManyStreamsUseManyCPUs: four streams on two CPUs may use both.
func TestManyStreamsUseManyCPUs(t *testing.T) {
	busy := Host{CPUs: 2, OwnCPUs: 1}
	for streams, want := range map[int]string{1: LimitCPU, 4: LimitRateCap} {
		if got := steadily().Limit(steadyOf(steadily()), Facts{MSS: 1448, Streams: streams, From: &busy}); got.By != want {
			t.Errorf("%d streams: %+v, want %s", streams, got, want)
		}
	}
}

// TestWindowCeiling has the arithmetic that is often done wrong: 64 KB at 80 ms.
func TestWindowCeiling(t *testing.T) {
	window := func(offered, held int64) Log {
		return steadily(func(s *Sample) {
			s.PeerWindow, s.SendBuffer, s.Unacked, s.MinRTT = offered, held, 60_000, 80*time.Millisecond
		})
	}
	for name, tt := range map[string]struct {
		log  Log
		want float64 // bit/s
	}{
		"receiver's": {window(65536, 1<<20), 6.5536e6},
		"sender's":   {window(1<<20, 65536), 6.5536e6},
		"not asked":  {window(65536, 0), 6.5536e6},
		"more seen":  {window(50_000, 0), 6.0e6},
		"no RTT":     {Log{{PeerWindow: 1}}, 0},
		"nothing":    {nil, 0},
	} {
		if got := 8 * tt.log.WindowCeiling(steadyOf(tt.log)); math.Abs(got-tt.want) > 1 {
			t.Errorf("%s: %v bit/s, want %v", name, got, tt.want)
		}
	}
}

// TestSane: a peer may say anything.
func TestSane(t *testing.T) {
	available := int64(-1)
	h := Host{
		CPUs: -5, CPURatio: 7, StealRatio: math.NaN(), SoftIRQRatio: -1, OwnCPUs: math.Inf(1), SoftnetDrops: -9,
		Interface: "eth0\nx", NICDriver: strings.Repeat("a", 100),
		NICExceeded:        map[string]int64{"good_allowance_exceeded": 3, "a,b": 1, "zero": 0, "minus": -1},
		ConntrackAvailable: &available,
	}
	got := h.Sane()
	if got.CPUs != 0 || got.CPURatio != 1 || got.StealRatio != 0 || got.SoftIRQRatio != 0 || got.OwnCPUs != maxCPUs || got.SoftnetDrops != 0 {
		t.Errorf("%+v", got)
	}
	if got.Interface != "" || got.NICDriver != "" || len(got.NICExceeded) != 1 || got.ConntrackAvailable != nil {
		t.Errorf("%+v", got)
	}
	if len(h.NICExceeded) != 4 {
		t.Error("the caller's map was changed")
	}
}
