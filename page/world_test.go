package page_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/page"
	"github.com/antipode-bench/antipode/results"
)

// world is every pair of the first n regions of AWS and Google Cloud, measured
// as such networks are: one in sixty failed, some twice, noise on everything.
func world(n int, samples bool) page.Input {
	regions := two(n)
	random := rand.New(rand.NewPCG(1, 77))
	c := analysis.NewCollector(analysis.Places{Name: "built-in", Regions: regions})
	count := 0
	for _, from := range regions {
		for _, to := range regions {
			if from == to {
				continue
			}
			row := measured(from, to, random)
			c.Add(row)
			if samples && row.Status == results.StatusOK {
				c.AddSeries(count, course(*row.GoodputBps, *row.RTTP50Ms, random))
			}
			count++
		}
	}
	c.End(results.Source{Name: "runs/20261130t172233z-ab12", Kind: "antipode", Rows: count, Method: "RTT: median of UDP probes; goodput: TCP payload at the receiver.", Run: facts(regions)})
	data := c.Data()
	return page.Input{Title: fmt.Sprintf("A planet of %d regions", len(regions)), Version: "test", Data: data, Report: analysis.NewReport(data, 1)}
}

// whole is the largest world of the two clouds that a page is judged by: 5,852 pairs.
var whole = sync.OnceValue(func() page.Input { return world(77, true) })

func two(n int) []antipode.Region {
	var regions []antipode.Region
	for _, r := range antipode.Regions() {
		if len(regions) < n && (r.Cloud == "aws" || r.Cloud == "gcp") && r.Partition == "" {
			regions = append(regions, r)
		}
	}
	return regions
}

func facts(regions []antipode.Region) *results.RunFacts {
	run := &results.RunFacts{RunID: "20261130t172233z-ab12", Version: "test", Started: time.Date(2026, 11, 30, 17, 22, 33, 0, time.UTC), Test: map[string]any{"streams": 1, "duration_s": 10}}
	for _, r := range regions {
		machine := map[string]string{"aws": "m7i.large", "gcp": "n2-standard-2"}[r.Cloud]
		run.Machines = append(run.Machines, results.MachineFacts{Region: r.ID(), Type: machine, CPUs: 2, CongestionControl: "cubic"})
	}
	return run
}

func measured(from, to antipode.Region, random *rand.Rand) results.Row {
	km := antipode.DistanceKm(from, to)
	row := results.Row{
		RunID: "20261130t172233z-ab12", Timestamp: "2026-11-30T17:25:01Z", Status: results.StatusOK,
		FromCloud: from.Cloud, FromRegion: from.Name, FromMachine: "m7i.large", ToCloud: to.Cloud, ToRegion: to.Name, ToMachine: "n2-standard-2",
		DistanceKm: &km, Path: "public", IPVersion: "4", CongestionControl: "cubic",
	}
	if random.IntN(60) == 0 {
		row.Status, row.Error = results.StatusFailed, "dial: no answer within 10 s"
		return row
	}
	rtt := 0.6 + antipode.FibreRTTMs(km)*(1.25+0.5*random.Float64())
	bps := math.Min(9.6e9*(0.9+0.1*random.Float64()), 12e9*math.Exp(0.5*random.NormFloat64())/rtt)
	row.RTTP50Ms, row.RTTMinMs, row.RTTP99Ms, row.RTTMeanMs = p(rtt), p(rtt*0.99), p(rtt*(1.01+0.1*random.Float64())), p(rtt*1.004)
	row.RTTLossRatio, row.RTTLoadedP50Ms = p(0), p(rtt*1.1)
	row.GoodputBps, row.Bytes, row.DurationS = p(bps), i(int64(bps*10/8)), p(9.5+random.Float64())
	row.Streams, row.RetransmitRatio, row.WindowCeilingBps = i(1), p(random.Float64()*0.001), p(bps*3)
	row.FromCPURatio, row.ToCPURatio, row.GoodputErrorRatio = p(random.Float64()*0.4), p(random.Float64()*0.5), p(random.Float64()*0.04)
	row.LimitedBy = []string{"rate-cap", "loss", "receive-window", "slow-start", "cpu"}[random.IntN(5)]
	row.LimitedByEvidence = fmt.Sprintf("median rate of the rounds %.0f %% of their 95th percentile, window %.2f MB", 60+40*random.Float64(), random.Float64()*8)
	return row
}

// course is a test of 10 s with a slow start and noise.
func course(bps, rtt float64, random *rand.Rand) results.Series {
	var s results.Series
	srtt := rtt
	for k := 1; k <= 100; k++ {
		at := 0.1*float64(k) + 0.001*random.Float64()
		if k%5 == 1 {
			srtt = rtt * (1 + 0.2*random.Float64())
		}
		s.AtS = append(s.AtS, float32(at))
		s.GoodputBps = append(s.GoodputBps, float32(bps*math.Min(1, at)*(1+0.08*random.NormFloat64())))
		s.RTTMs = append(s.RTTMs, float32(srtt))
	}
	return s
}

func p(v float64) *float64 { return &v }
func i(v int64) *int64     { return &v }
