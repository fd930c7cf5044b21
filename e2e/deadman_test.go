package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestDeadMansSwitch kills a sweep for good. Its machines live until the run's
// time is over, and then end themselves, with their disks: nobody cleans up.
func TestDeadMansSwitch(t *testing.T) {
	t.Parallel() // most of it is waiting
	u := self(t)
	lab := u.upLab(t)
	// Compute Engine takes no shorter life.
	s := u.start(t, "sweep", "--lab="+lab, "--regions", "aws:eu-central-1,gcp:europe-west3", "--max-time", "30s", "--duration", "20s", "--rtt-probes", "3")
	s.waitFor(t, "measuring", 25*time.Second)
	kill(t, s.cmd.Process.Pid)
	s.wait(t, killLimit)
	begin := journalOf(t, u.runFolder(t))[0]

	time.Sleep(time.Until(begin.Expires) - 5*time.Second)
	if alive := machinesIn(t, u, lab); len(alive) != 2+2+2 {
		t.Errorf("%v before the run expires there are %v; want two instances, two disks, two machines", time.Until(begin.Expires), alive)
	}
	eventually(t, time.Until(begin.Expires)+20*time.Second, "end of the machines", func() bool {
		return len(machinesIn(t, u, lab)) == 0
	})
	t.Logf("ended %v after the run expired", tenths(time.Since(begin.Expires)))
	u.run(t, time.Minute, "cleanup", "--lab", lab, "--run", filepath.Base(u.runFolder(t))).want(t, 0, "nothing is left")
	checkEmpty(t, u.run(t, time.Minute, "lab", "inventory", lab))
}

// machinesIn are what costs money: instances and disks, and the lab's machines.
func machinesIn(t *testing.T, u user, lab string) (alive []string) {
	t.Helper()
	all := readInventory(t, u.run(t, time.Minute, "lab", "inventory", lab))
	for _, i := range all.left() {
		if slices.Contains([]string{"instance", "disk"}, i.Kind) {
			alive = append(alive, i.Cloud+" "+i.Kind+" "+i.ID)
		}
	}
	for _, p := range all.Processes {
		alive = append(alive, fmt.Sprint(p))
	}
	return alive
}
