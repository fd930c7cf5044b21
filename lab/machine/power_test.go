package machine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseShutdown(t *testing.T) {
	for args, want := range map[string]powerRequest{
		"":                       {powerOff, time.Minute},
		"-P +15":                 {powerOff, 15 * time.Minute},
		"-h now":                 {powerOff, 0},
		"+0":                     {powerOff, 0},
		"3 closing time":         {powerOff, 3 * time.Minute},
		"--no-wall --halt now":   {powerHalt, 0},
		"-H +1":                  {powerHalt, time.Minute},
		"-r now":                 {powerReboot, 0},
		"-c":                     {powerCancel, 0},
		"-P +2000 the run is up": {powerOff, 2000 * time.Minute},
	} {
		got, err := parseShutdown(strings.Fields(args))
		if err != nil || got != want {
			t.Errorf("shutdown %s = %+v, %v; want %+v", args, got, err, want)
		}
	}
	for _, args := range []string{"-k now", "-P 12:30", "+-1", "+99999999999", "+1.5", "-P soon"} {
		if got, err := parseShutdown(strings.Fields(args)); err == nil {
			t.Errorf("shutdown %s = %+v; want an error", args, got)
		}
	}
}

func TestParsePower(t *testing.T) {
	for line, want := range map[string]powerAction{
		"poweroff": powerOff, "poweroff -f": powerOff, "poweroff -ff": powerOff, "halt": powerHalt, "halt -p": powerOff, "poweroff --halt": powerHalt,
		"reboot": powerReboot, "reboot -f": powerReboot, "halt --reboot": powerReboot,
	} {
		f := strings.Fields(line)
		got, err := parsePower(f[0], f[1:])
		if err != nil || got.Action != want || got.After != 0 {
			t.Errorf("%s = %+v, %v; want %s at once", line, got, err, want)
		}
	}
	if _, err := parsePower("poweroff", []string{"--wtmp-only"}); err == nil {
		t.Error("poweroff --wtmp-only was accepted")
	}
}

func TestParseSudo(t *testing.T) {
	for line, want := range map[string][2]string{
		"ls -l":               {"ls -l", ""},
		"-n -E ls -n":         {"ls -n", ""},
		"-u root A=1 B=2 env": {"env", "A=1 B=2"},
		"-- env A=1":          {"env A=1", ""},
	} {
		command, environment, err := parseSudo(strings.Fields(line))
		got := [2]string{strings.Join(command, " "), strings.Join(environment, " ")}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("sudo %s: %v\n%s", line, err, diff)
		}
	}
	for _, line := range []string{"", "-n", "-u", "A=1", "--"} {
		if command, _, err := parseSudo(strings.Fields(line)); err == nil {
			t.Errorf("sudo %s = %q; want an error", line, command)
		}
	}
}

func FuzzParseShutdown(f *testing.F) {
	f.Add("-P +15")
	f.Fuzz(func(t *testing.T, args string) {
		req, err := parseShutdown(strings.Fields(args))
		if err == nil && req.After < 0 {
			t.Errorf("shutdown %q is due %s ago", args, -req.After)
		}
	})
}
