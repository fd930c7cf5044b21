package machine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// toolNames are the commands a machine has besides the host's: links to the
// machine binary, which acts by the name it is called by.
var toolNames = []string{"shutdown", "poweroff", "halt", "reboot", "sudo"}

// systemPath is the search path after the tools' folder.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// runTool is the other life of the binary: a command called by someone on the
// machine. ok is false if name is none.
func runTool(name string, args []string) (ok bool, err error) {
	var req powerRequest
	switch name {
	case "sudo":
		return true, sudo(args)
	case "shutdown":
		req, err = parseShutdown(args)
	case "poweroff", "halt", "reboot":
		req, err = parsePower(name, args)
	default:
		return false, nil
	}
	if err != nil {
		return true, err
	}
	return true, requestPower(req)
}

// sudo becomes the command: everyone on a machine is root.
func sudo(args []string) error {
	command, environment, err := parseSudo(args)
	if err != nil {
		return err
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, command, append(os.Environ(), environment...))
}

// makeTools links the tools into a folder of their own and returns the search
// path that begins with it.
func makeTools() (path string, err error) {
	self, err := selfPath()
	if err != nil {
		return "", fmt.Errorf("tools: %w", err)
	}
	dir := "/run/antipode/bin"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		if dir, err = os.MkdirTemp("", "antipode-bin-"); err != nil {
			return "", fmt.Errorf("tools: %w", err)
		}
	}
	for _, name := range toolNames {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("tools: %w", err)
		}
	}
	return dir + ":" + systemPath, nil
}

// selfPath is the machine binary as seen by every process of the machine. The
// file itself may lie in a folder that is covered by now, so /proc is better;
// with the host's old /proc, process 1 is somebody else.
func selfPath() (string, error) {
	const first = "/proc/1/exe"
	if self, err := os.Readlink("/proc/self"); err == nil && self == "1" {
		return first, nil
	}
	return os.Executable()
}
