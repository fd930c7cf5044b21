package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nobody is the ordinary user that root runs the command as: no capabilities,
// no /dev/net/tun.
const nobody = 65534

// binary is the command under test, a copy that everybody may run.
var binary string

func TestMain(m *testing.M) {
	if runtime.GOOS != "linux" {
		fmt.Println("the lab needs Linux")
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "antipode-e2e-")
	if err == nil {
		err = build(dir)
	}
	code := 1
	if err != nil {
		fmt.Println("build:", err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// build makes the binaries as the README says, and copies the command.
func build(dir string) error {
	if out, err := exec.Command("make", "-C", "..", "build").CombinedOutput(); err != nil {
		return fmt.Errorf("make build: %w\n%s", err, out)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	binary = filepath.Join(dir, "antipode")
	from, err := os.Open("../bin/antipode")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(binary, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// user is who runs the command, in a folder of their own.
type user struct {
	uid int    // nobody, or that of the test
	dir string // working folder, home and everything temporary

	binary string // the command they run
}

// users are who the command must work for: an ordinary user always, and root
// where the test is root.
func users(t *testing.T) map[string]user {
	t.Helper()
	if os.Getuid() != 0 {
		return map[string]user{"ordinary user": newUser(t, os.Getuid())}
	}
	return map[string]user{"root": newUser(t, 0), "ordinary user": newUser(t, nobody)}
}

// self is the user that runs the test.
func self(t *testing.T) user {
	t.Helper()
	return newUser(t, os.Getuid())
}

func newUser(t *testing.T, uid int) user {
	t.Helper()
	dir, err := os.MkdirTemp("", "antipode-e2e-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, sub := range []string{"home", "tmp", "run"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if uid != os.Getuid() {
		for _, path := range []string{dir, dir + "/home", dir + "/tmp", dir + "/run"} {
			if err := os.Chown(path, uid, uid); err != nil {
				t.Fatal(err)
			}
		}
	}
	return user{uid, dir, binary}
}

// command prepares the command; it is killed when ctx ends.
func (u user) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, u.binary, args...)
	cmd.Dir = u.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + u.dir + "/home", "TMPDIR=" + u.dir + "/tmp", "XDG_RUNTIME_DIR=" + u.dir + "/run",
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if u.uid != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.uid)}
	}
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// outcome is how a command ended.
type outcome struct {
	code           int
	stdout, stderr string
	took           time.Duration
}

// run runs the command to its end, at most limit on a quiet computer.
func (u user) run(t *testing.T, limit time.Duration, args ...string) outcome {
	t.Helper()
	o, err := u.try(slack*limit, args...)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, o.stdout, o.stderr)
	}
	return o
}

// try is run for those who live with a command that does not end.
func (u user) try(limit time.Duration, args ...string) (outcome, error) {
	// Not the test's context: clean-ups run commands too.
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := u.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	o := outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), time.Since(began)}
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		return o, fmt.Errorf("antipode %s: %v after %v (limit %v)", strings.Join(args, " "), err, o.took, limit)
	}
	return o, nil
}

// want fails the test unless the command ended with the code, and said each of
// the texts.
func (o outcome) want(t *testing.T, code int, texts ...string) {
	t.Helper()
	for _, lack := range o.lacks(code, texts...) {
		t.Error(lack)
	}
	if t.Failed() {
		t.Fatalf("stdout:\n%s\nstderr:\n%s", o.stdout, o.stderr)
	}
}

// lacks says what is wrong with an outcome that is not the one wanted.
func (o outcome) lacks(code int, texts ...string) (wrong []string) {
	if o.code != code {
		wrong = append(wrong, fmt.Sprintf("exit code %d, want %d", o.code, code))
	}
	for _, text := range texts {
		if !strings.Contains(o.stdout+o.stderr, text) {
			wrong = append(wrong, fmt.Sprintf("does not say %q", text))
		}
	}
	return wrong
}

// runFolder returns the folder of the only run.
func (u user) runFolder(t *testing.T) string {
	t.Helper()
	return onlyFolder(t, filepath.Join(u.dir, "runs"))
}

func onlyFolder(t *testing.T, dir string) string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("in %s: %v, %v; want one", dir, folders, err)
	}
	return folders[0]
}
