package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRounds checks that no chair has two tasks in a round, and how many rounds
// it takes over the busiest chair's tasks.
func TestRounds(t *testing.T) {
	for _, n := range []int{1, 2, 3, 6, 9, 24, 46, 77} {
		var everyone, directed, some [][2]chair
		for a := range n {
			for b := range n {
				if a != b {
					directed = append(directed, [2]chair{a, n + b})
				}
				if a < b {
					everyone = append(everyone, [2]chair{a, b})
				}
				if a < b && rand.IntN(3) == 0 {
					some = append(some, [2]chair{a, b})
				}
			}
		}
		for _, tt := range []struct {
			name  string
			tasks [][2]chair
			extra int
		}{{"everyone", everyone, n/2 + 2}, {"directed", directed, 0}, {"some", some, n/4 + 2}} {
			t.Run(fmt.Sprint(tt.name, n), func(t *testing.T) {
				if used, busiest := usedRounds(t, tt.tasks, 2*n); used > busiest+tt.extra {
					t.Errorf("%d rounds for %d tasks of the busiest chair", used, busiest)
				}
			})
		}
	}
}

func usedRounds(t *testing.T, tasks [][2]chair, chairs int) (used, busiest int) {
	degree := make([]int, chairs)
	taken := map[[2]int]bool{}
	for i, round := range rounds(tasks, chairs) {
		for _, at := range tasks[i] {
			degree[at]++
			if taken[[2]int{at, round}] {
				t.Fatalf("chair %d has two tasks in round %d", at, round)
			}
			taken[[2]int{at, round}] = true
		}
		used = max(used, round+1)
	}
	return used, slices.Max(append(degree, 0))
}
