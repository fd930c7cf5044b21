package e2e

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// TestNamedLab walks through a lab's life as the README tells it.
func TestNamedLab(t *testing.T) {
	t.Parallel()
	for name, u := range users(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab := fmt.Sprintf("e2e-%d", time.Now().UnixNano()%1e9)
			u.run(t, time.Minute, "lab", "up", lab).want(t, 0, "antipode sweep --lab="+lab)
			t.Cleanup(func() { u.run(t, time.Minute, "lab", "down", lab) })
			u.run(t, time.Minute, "lab", "up", lab).want(t, 1, lab)
			u.run(t, time.Minute, "lab", "list").want(t, 0, lab)
			for range 2 { // one sweep after the other, in the same lab
				u.run(t, 2*time.Minute, "sweep", "--lab="+lab, "--regions", "aws:us-east-1,gcp:us-east4", "--duration", "300ms",
					"--rtt-probes", "5").want(t, 0, "2 pairs: 2 ok", "nothing is left")
			}
			checkEmpty(t, u.run(t, time.Minute, "lab", "inventory", lab))
			u.run(t, time.Minute, "lab", "truth", lab).want(t, 0, "from_cloud,from_region,to_cloud,to_region,rtt_ms", "aws,us-east-1,gcp,us-east4,")
			u.run(t, time.Minute, "lab", "down", lab).want(t, 0, "is down")
			u.run(t, time.Minute, "lab", "down", lab).want(t, 1, lab)
			u.run(t, time.Minute, "lab", "up", lab).want(t, 0)
		})
	}
}

// inventory is what a lab says is in it.
type inventory struct {
	AWS, GCP  []item
	Processes []guest
}

// guest is the first process of a machine, numbered as in the lab.
type guest struct {
	ID, Region string
	PID        int
}

type item struct {
	Cloud, Region, Kind, ID, Name, State string
	Tags                                 map[string]string
}

func readInventory(t *testing.T, o outcome) (all inventory) {
	t.Helper()
	o.want(t, 0)
	if err := json.Unmarshal([]byte(o.stdout), &all); err != nil {
		t.Fatalf("inventory: %v\n%s", err, o.stdout)
	}
	return all
}

// left is what is not over: clouds show what is over for a while.
func (all inventory) left() (left []item) {
	for _, i := range append(all.AWS, all.GCP...) {
		if i.State != "terminated" {
			left = append(left, i)
		}
	}
	return left
}

// checkEmpty reads an inventory of a lab in which sweeps were.
func checkEmpty(t *testing.T, o outcome) {
	t.Helper()
	all := readInventory(t, o)
	if len(all.AWS) == 0 {
		t.Errorf("no trace of a terminated instance: is this the lab of the sweeps?\n%s", o.stdout)
	}
	for _, i := range all.left() {
		t.Errorf("left behind: %+v", i)
	}
	if len(all.Processes) > 0 {
		t.Errorf("machines still run: %v", all.Processes)
	}
}
