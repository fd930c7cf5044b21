package lab

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// limitedCommand is the hidden sub-command of the test program that kills labs
// where the kernel allows only as many network namespaces as one lab has.
const limitedCommand = "lab-test-limited"

// TestNamespacesGo shows what no list of processes does: that nothing, such as a
// socket with unsent data, keeps a dead lab's namespaces in the kernel. The next
// lab would not get any.
func TestNamespacesGo(t *testing.T) {
	machine, err := memFile("machine", machineBinary)
	if err != nil {
		t.Fatal(err)
	}
	defer machine.Close()
	cmd := exec.Command("/proc/self/exe", limitedCommand)
	cmd.ExtraFiles = []*os.File{machine}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	t.Logf("%s", out)
}

func limitedMain() int {
	if err := limited(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func limited() error {
	limit := strconv.Itoa(1 + len(testRegions)) // the inner's and one per machine
	if err := os.WriteFile("/proc/sys/user/max_net_namespaces", []byte(limit), 0); err != nil {
		return err
	}
	machine := os.NewFile(fdTestMachine, "machine")
	for _, target := range []string{"controller", "inner", "inner"} {
		begun := time.Now()
		err := killOne(target, machine)
		for err != nil && time.Since(begun) < goneWithin {
			fmt.Println("retry:", err)
			time.Sleep(50 * time.Millisecond)
			err = killOne(target, machine)
		}
		if err != nil {
			return fmt.Errorf("next lab not up within %v: %w", goneWithin, err)
		}
		fmt.Println("next lab up and killed after", time.Since(begun).Round(time.Millisecond))
	}
	return nil
}

// killOne has a controller start a lab with machines and kills one of the two.
func killOne(target string, machine *os.File) error {
	said := &strings.Builder{}
	cmd := exec.Command("/proc/self/exe", controllerCommand)
	cmd.ExtraFiles = []*os.File{machine}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return errors.New(said.String())
	}
	var inner int
	if _, err := fmt.Sscanf(line, "up %d", &inner); err != nil {
		return err
	}
	if target == "inner" {
		return syscall.Kill(inner, syscall.SIGKILL)
	}
	return nil // by the deferred Kill
}
