package machine

import (
	"log"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// bootCommandLimit ends a boot command that hangs; the boot goes on without it.
const bootCommandLimit = 2 * time.Minute

// environment of everything that runs on the machine for user.
func environment(user, home, path string) []string {
	return []string{
		"PATH=" + path, "HOME=" + home, "USER=" + user, "LOGNAME=" + user,
		"SHELL=/bin/sh", "LANG=C.UTF-8",
	}
}

// runBootCommands runs them in order as root. As with cloud-init a failed one
// is logged and does not stop the boot. Their output goes to the console.
func (m *machine) runBootCommands() {
	for i, line := range m.boot.BootCommands {
		cmd := exec.Command("/bin/sh", "-c", line)
		cmd.Dir, cmd.Env = "/", environment("root", "/root", m.path)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if problem := m.runLimited(cmd); problem != "" {
			log.Printf("boot command %d: %s", i+1, problem)
		}
	}
}

// runLimited runs cmd for bootCommandLimit at most and says what went wrong.
func (m *machine) runLimited(cmd *exec.Cmd) (problem string) {
	process, err := m.reaper.start(cmd)
	if err != nil {
		return err.Error()
	}
	limit := time.AfterFunc(bootCommandLimit, func() { unix.Kill(-process.PID, unix.SIGKILL) })
	defer limit.Stop()
	switch status := process.Wait(); {
	case status.Signaled():
		return "killed by " + unix.SignalName(status.Signal())
	case status.ExitStatus() != 0:
		return "failed with exit status " + strconv.Itoa(status.ExitStatus())
	}
	return ""
}
