package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hearsInterrupts says how often it was interrupted within a second of the first time.
const hearsInterrupts = `n=0; trap 'n=$((n+1))' INT; tty; echo ready >/dev/tty; while [ $n = 0 ]; do sleep 0.1; done; sleep 1; echo "heard $n"; exit 4`

// TestExecInterrupted: a command in the lab has its caller's terminal, and is
// interrupted once, by Ctrl-C there as by a signal to antipode where there is none.
func TestExecInterrupted(t *testing.T) {
	t.Parallel()
	for name, u := range users(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab := fmt.Sprintf("tty-%d", time.Now().UnixNano()%1e9)
			u.run(t, time.Minute, "lab", "up", lab).want(t, 0)
			t.Cleanup(func() { u.run(t, time.Minute, "lab", "down", lab) })
			args := []string{"lab", "exec", "gcp:us-east4", "--", "sh", "-c", hearsInterrupts}

			master, slave := openTerminal(t)
			ctx, cancel := context.WithTimeout(t.Context(), slack*time.Minute)
			defer cancel()
			cmd := u.command(ctx, args...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
			cmd.SysProcAttr.Setctty = true
			said := &buffer{}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			go func() {
				for b := make([]byte, 1024); ; { // until the terminal is closed
					n, err := master.Read(b)
					said.Write(b[:n])
					if err != nil {
						return
					}
				}
			}()
			eventually(t, 20*time.Second, "prompt", func() bool { return strings.Contains(said.String(), "ready") })
			if _, err := master.Write([]byte{3}); err != nil { // Ctrl-C
				t.Fatal(err)
			}
			_ = cmd.Wait() // its code says it
			if got := cmd.ProcessState.ExitCode(); got != 4 {
				t.Errorf("exit code %d, want 4", got)
			}
			eventually(t, time.Second, "last words", func() bool { return strings.Contains(said.String(), "heard") })
			for _, want := range []string{slave.Name(), "heard 1"} {
				if !strings.Contains(said.String(), want) {
					t.Errorf("the terminal shows no %q but %q", want, said)
				}
			}

			args[len(args)-1] = strings.ReplaceAll(hearsInterrupts, ">/dev/tty", ">&2")
			s := u.start(t, args...)
			s.waitFor(t, "ready", time.Minute)
			s.cmd.Process.Signal(syscall.SIGINT)
			s.wait(t, time.Minute).want(t, 4, "heard 1", "not a tty")
		})
	}
}

// openTerminal opens both ends of a new one.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}
