package machine

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// gcPercent trades a little time for memory: a lab runs dozens of machines.
const gcPercent = 30

// machine is the state of the first process.
type machine struct {
	boot    Boot
	control control
	reaper  *reaper
	path    string // search path of every command
	reboots chan struct{}
}

// Main is the whole program: the first process of a machine, or, called by the
// name of one, a tool of the machine. It returns the exit code.
func Main(args []string) int {
	name := filepath.Base(args[0])
	log.SetFlags(0)
	log.SetPrefix(name + ": ")
	isTool, err := runTool(name, args[1:])
	if !isTool {
		err = run()
	}
	if err != nil {
		log.Print(err)
		return 1
	}
	return 0
}

// run boots the machine and serves until the power goes. Ending the process
// is the power switch: the kernel kills all that lives in the pid namespace.
func run() error {
	if os.Getpid() != 1 {
		return errors.New("not the first process of a pid namespace: the lab's hypervisor starts this program, nobody else")
	}
	debug.SetGCPercent(gcPercent)
	// Whatever was inherited must not reach the machine's commands.
	if err := unix.CloseRange(ControlFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close inherited descriptors: %w", err)
	}
	c, err := openControl(ControlFD)
	if err != nil {
		return err
	}
	b, err := c.receiveBoot()
	if errors.Is(err, io.EOF) {
		return nil
	}
	m := &machine{boot: b, control: c, reaper: newReaper(), reboots: make(chan struct{}, 1)}
	if err == nil {
		go func() { c.waitHangUp(); os.Exit(0) }()
		err = m.live()
	}
	return errors.Join(err, c.report(Report{Kind: ReportFailed, Error: err.Error()}))
}

// live returns only if the machine can't go on.
func (m *machine) live() error {
	if err := m.plugIn(); err != nil {
		return err
	}
	if m.boot.NeverBoot {
		select {}
	}
	time.Sleep(time.Duration(m.boot.BootDelayMs * float64(time.Millisecond)))
	home, err := m.setUp()
	if err != nil {
		return err
	}
	m.runBootCommands()
	server, err := m.sshServer(home)
	if err != nil {
		return err
	}
	for again := false; ; again = true {
		l, err := m.listen()
		if err == nil && !again {
			err = m.control.report(Report{Kind: ReportBooted})
		}
		if err == nil {
			err = m.serve(server, l)
		}
		if err != nil {
			return err
		}
		unix.Kill(-1, unix.SIGKILL)
		m.runBootCommands() // as cloud-init does with bootcmd at every boot
	}
}

// plugIn makes the link and hands its descriptor, if it has one, to the hypervisor.
func (m *machine) plugIn() error {
	tun, err := m.boot.Link.plug()
	if err != nil {
		return err
	}
	if tun == nil {
		return m.control.report(Report{Kind: ReportLink})
	}
	defer tun.Close()
	return m.control.report(Report{Kind: ReportLink}, tun)
}

// setUp does what a kernel and an early boot would.
func (m *machine) setUp() (home string, err error) {
	if m.boot.Hostname != "" {
		if err := unix.Sethostname([]byte(m.boot.Hostname)); err != nil {
			return "", fmt.Errorf("hostname %q: %w", m.boot.Hostname, err)
		}
	}
	if err := setUpMounts(); err != nil {
		return "", err
	}
	m.boot.Link.setSysctls()
	if err := m.boot.Link.Up(); err != nil {
		return "", err
	}
	if m.path, err = makeTools(); err != nil {
		return "", err
	}
	power := &powerd{off: m.powerOff, halt: m.halt, reboot: m.reboot}
	if err := power.listen(); err != nil {
		return "", err
	}
	return makeHome(m.boot.User)
}

// powerOff tells the hypervisor and ends everything.
func (m *machine) powerOff() {
	m.control.report(Report{Kind: ReportHalted})
	os.Exit(0)
}

// halt ends everything but the machine itself: as after a real halt(8), which
// no cloud notices.
func (m *machine) halt() {
	unix.Kill(-1, unix.SIGKILL)
	if err := m.boot.Link.down(); err != nil {
		log.Print(err)
	}
}

// reboot ends every process and connection, and boots again. What is on the
// disk stays. A second reboot at the same time is the same one.
func (m *machine) reboot() {
	select {
	case m.reboots <- struct{}{}:
	default:
	}
}
