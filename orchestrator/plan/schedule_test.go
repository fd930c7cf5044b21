package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/google/go-cmp/cmp"
)

// TestScheduleMakespan runs whole schedules on a simulated clock. The limits
// are over the bound, which no schedule can beat.
func TestScheduleMakespan(t *testing.T) {
	for _, tt := range []struct {
		regions int
		order   Order
		uneven  float64 // a test takes 1 to 1+uneven times its shortest
		limit   float64
	}{
		{6, Tournament, .02, 1.02},
		{6, Tournament, .15, 1.06},
		{6, Greedy, 2, 1.30},
		{10, Tournament, .02, 1.02},
		{10, Tournament, .15, 1.06},
		{10, Greedy, 2, 1.20},
		{46, Tournament, .02, 1.02},
		{46, Tournament, .15, 1.04},
		{46, Greedy, 2, 1.08},
	} {
		for _, isolation := range []Isolation{Duplex, Host, Together} {
			t.Run(fmt.Sprint(tt.regions, tt.order, isolation, tt.uneven), func(t *testing.T) {
				for seed := range uint64(1 + 40/tt.regions) {
					sim := newSimulation(t, allPairs(numbered(tt.regions)), isolation, tt.order, seed)
					sim.uneven = tt.uneven
					sim.run()
					if ratio := float64(sim.now) / float64(Bound(sim.done, isolation)); ratio > tt.limit || ratio < 1 {
						t.Errorf("seed %d: makespan is %.3f times the bound, want 1 to %.2f", seed, ratio, tt.limit)
					}
				}
			})
		}
	}
}

// TestScheduleLuck lets machines come late, go away for a while and die at random.
func TestScheduleLuck(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		regions := numbered(2 + rng.IntN(10))
		pairs := slices.DeleteFunc(allPairs(regions), func(Pair) bool { return rng.IntN(4) == 0 })
		if len(pairs) == 0 {
			continue
		}
		order := []Order{Tournament, Greedy}[rng.IntN(2)]
		sim := newSimulation(t, pairs, []Isolation{Duplex, Host, Together, None}[rng.IntN(4)], order, seed)
		sim.uneven = 1
		for _, r := range regions {
			if rng.IntN(3) == 0 {
				sim.late[r.ID()] = time.Duration(rng.IntN(60)) * time.Second
			}
			if rng.IntN(4) == 0 {
				sim.dies[r.ID()] = time.Duration(rng.IntN(60)) * time.Second
			}
			if rng.IntN(3) == 0 {
				sim.lapses[r.ID()] = time.Duration(rng.IntN(60)) * time.Second
			}
		}
		sim.run()
	}
}

// TestNoIsolation: once the round trips are known, all tests run at once.
func TestNoIsolation(t *testing.T) {
	sim := newSimulation(t, allPairs(numbered(6)), None, Greedy, 1)
	sim.run()
	if want := 5*1300*time.Millisecond + 5*time.Second; sim.now != want {
		t.Errorf("all is measured after %v, want %v", sim.now, want)
	}
}

func TestScheduleForget(t *testing.T) {
	r := numbered(2)
	s := NewSchedule(allPairs(r), Duplex, Tournament)
	s.Ready(r[0].ID())
	s.Ready(r[1].ID())
	rtt, _ := s.Next()
	if want := (Task{Kind: RTT, From: "aws:r0", To: "aws:r1", Both: true}); rtt != want {
		t.Fatalf("Next = %v, want %v", rtt, want)
	}
	s.Forget("aws:r0", "aws:r1")
	s.Done(rtt)
	s.Done(rtt)
	test, _ := s.Next()
	if want := (Task{Kind: Throughput, From: "aws:r1", To: "aws:r0"}); test != want {
		t.Errorf("Next = %v, want %v", test, want)
	}
	s.Done(test)
	if n := s.Remaining(); n != 0 {
		t.Errorf("Remaining = %d, want 0", n)
	}
}

// TestScheduleTogether: both directions are one test, until one of them is not
// wanted any more.
func TestScheduleTogether(t *testing.T) {
	r := numbered(3)
	pairs := append(allPairs(r[:2]), Pair{From: r[0], To: r[2]})
	for forgotten, want := range map[[2]string][]Task{
		{}:                   {{Kind: Throughput, From: "aws:r0", To: "aws:r1", Both: true}, {Kind: Throughput, From: "aws:r0", To: "aws:r2"}},
		{"aws:r0", "aws:r1"}: {{Kind: Throughput, From: "aws:r1", To: "aws:r0"}, {Kind: Throughput, From: "aws:r0", To: "aws:r2"}},
		{"aws:r1", "aws:r0"}: {{Kind: Throughput, From: "aws:r0", To: "aws:r1"}, {Kind: Throughput, From: "aws:r0", To: "aws:r2"}},
		{"aws:r0", "aws:r2"}: {{Kind: Throughput, From: "aws:r0", To: "aws:r1", Both: true}},
	} {
		s := NewSchedule(pairs, Together, Greedy)
		s.Forget(forgotten[0], forgotten[1])
		for _, region := range r {
			s.Ready(region.ID())
		}
		var got []Task
		for task, ok := s.Next(); ok; task, ok = s.Next() {
			if task.Kind == Throughput {
				got = append(got, task)
			}
			s.Done(task)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("without %v (-want +got):\n%s", forgotten, diff)
		}
	}
}

// TestScheduleAgain: also the other way around, since that may be all that is left.
func TestScheduleAgain(t *testing.T) {
	r := numbered(2)
	s := NewSchedule([]Pair{{r[0], r[1]}}, Duplex, Greedy)
	s.Ready(r[0].ID())
	s.Ready(r[1].ID())
	rtt, _ := s.Next()
	s.Done(rtt)
	again := rtt.reverse()
	s.Again(again)
	if got, ok := s.Next(); !ok || got != again {
		t.Errorf("Next = %v, %v; want %v", got, ok, again)
	}
}

func TestScheduleDrop(t *testing.T) {
	r := numbered(3)
	s := NewSchedule(allPairs(r)[:3], Duplex, Tournament) // r0>r1, r0>r2, r1>r0
	got := s.Drop("aws:r2")
	want := []Task{{Kind: RTT, From: "aws:r0", To: "aws:r2"}, {Kind: Throughput, From: "aws:r0", To: "aws:r2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Drop (-want +got):\n%s", diff)
	}
	if n := s.Remaining(); n != 3 {
		t.Errorf("Remaining = %d, want 3", n)
	}
	s.Ready("aws:stranger")
	if _, ok := s.Next(); ok {
		t.Error("Next started a task of machines that are not ready")
	}
}

func TestEstimate(t *testing.T) {
	pairs := allPairs(numbered(6))
	for isolation, want := range map[Isolation]time.Duration{Duplex: 30 * time.Second, Host: 55 * time.Second, Together: 30 * time.Second, None: 10 * time.Second} {
		if got := Estimate(pairs, isolation, time.Second, 5*time.Second); got != want {
			t.Errorf("%s: Estimate = %v, want %v", isolation, got, want)
		}
	}
}

func numbered(n int) []antipode.Region {
	regions := make([]antipode.Region, n)
	for i := range regions {
		regions[i] = antipode.Region{Cloud: "aws", Name: fmt.Sprint("r", i)}
	}
	return regions
}

func BenchmarkSchedule46(b *testing.B) {
	pairs := allPairs(numbered(46))
	for b.Loop() {
		newSimulation(b, pairs, Duplex, Tournament, 1).run()
	}
}
