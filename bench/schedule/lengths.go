package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
)

// lengths is a kind of throughput tests, by how long they take.
type lengths struct {
	name  string
	order plan.Order               // that a sweep with such tests uses
	draw  func(*rand.Rand) float64 // seconds
	worst float64                  // makespan over bound that is too much, of many regions
}

// kinds are tests that end by time, tests that end when they know enough, and
// transfers of a number of bytes over paths of all speeds.
func kinds() []lengths {
	return []lengths{
		{"even", plan.Tournament, func(r *rand.Rand) float64 { return 18 + 3*r.Float64() }, 1.04},
		{"random", plan.Greedy, func(r *rand.Rand) float64 { return 20 * r.Float64() }, 1.03},
		{"heavy-tailed", plan.Greedy, func(r *rand.Rand) float64 { return pareto(r, 3, 1.5) }, 1.03},
	}
}

// pareto draws from the distribution of Pareto, of infinite variance for a shape
// of up to 2.
func pareto(r *rand.Rand, least, shape float64) float64 {
	return least * math.Pow(1-r.Float64(), -1/shape)
}

// of is how long every task takes. A round trip takes what 50 probes 20 ms
// apart do, and once the way.
func (l lengths) of(tasks []plan.Task, seed uint64) map[plan.Task]time.Duration {
	rng := rand.New(rand.NewPCG(seed, 1))
	took := make(map[plan.Task]time.Duration, len(tasks))
	for _, t := range tasks {
		s := 1 + .3*rng.Float64()
		if t.Kind == plan.Throughput {
			s = l.draw(rng)
		}
		took[t] = time.Duration(s * float64(time.Second))
	}
	return took
}
