package machine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// powerAction is what a machine can be asked to do about its power.
type powerAction string

const (
	powerOff    powerAction = "poweroff"
	powerHalt   powerAction = "halt" // stops everything, but the power stays on: no cloud notices
	powerReboot powerAction = "reboot"
	powerCancel powerAction = "cancel"
)

// powerRequest is what the shutdown command asks of the first process.
type powerRequest struct {
	Action powerAction   `json:"action"`
	After  time.Duration `json:"after_ns"`
}

// maxShutdownMinutes is far beyond any run and far from overflowing a Duration.
const maxShutdownMinutes = 10 * 365 * 24 * 60

// parseShutdown understands shutdown(8) of systemd: options, then a time
// ("now", "+minutes", default +1), then words for the users.
func parseShutdown(args []string) (powerRequest, error) {
	req := powerRequest{Action: powerOff, After: time.Minute}
	var words []string
	for _, a := range args {
		switch {
		case a == "-c":
			return powerRequest{Action: powerCancel}, nil
		case a == "-H" || a == "--halt":
			req.Action = powerHalt
		case a == "-r" || a == "--reboot":
			req.Action = powerReboot
		case a == "-P" || a == "--poweroff" || a == "-h" || a == "--no-wall":
		case strings.HasPrefix(a, "-"):
			return powerRequest{}, fmt.Errorf("option %s is not supported by a lab machine", a)
		default:
			words = append(words, a)
		}
	}
	if len(words) == 0 {
		return req, nil
	}
	var err error
	req.After, err = parseShutdownTime(words[0])
	return req, err
}

func parseShutdownTime(s string) (time.Duration, error) {
	if s == "now" {
		return 0, nil
	}
	minutes, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, 32)
	if err != nil || minutes > maxShutdownMinutes {
		return 0, fmt.Errorf("time %q: want now or +minutes", s)
	}
	return time.Duration(minutes) * time.Minute, nil
}

// parsePower understands poweroff(8), halt(8) and reboot(8), which share their options.
func parsePower(name string, args []string) (powerRequest, error) {
	req := powerRequest{Action: powerAction(name)}
	for _, a := range args {
		switch a {
		case "-p", "--poweroff":
			req.Action = powerOff
		case "--halt":
			req.Action = powerHalt
		case "--reboot":
			req.Action = powerReboot
		case "-f", "-ff", "--force", "--no-wall":
		default:
			return powerRequest{}, fmt.Errorf("argument %s is not supported by a lab machine", a)
		}
	}
	return req, nil
}

// parseSudo returns the command of a sudo command line; who runs it is root
// already, so the options that only matter to the real sudo are skipped.
func parseSudo(args []string) (command, environment []string, err error) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--":
			return requireCommand(args[i+1:], environment)
		case a == "-u" || a == "-g" || a == "--user" || a == "--group":
			i++
		case strings.HasPrefix(a, "-"):
		case strings.Contains(a, "="):
			environment = append(environment, a)
		default:
			return requireCommand(args[i:], environment)
		}
	}
	return requireCommand(nil, environment)
}

func requireCommand(command, environment []string) ([]string, []string, error) {
	if len(command) == 0 {
		return nil, nil, errors.New("no command")
	}
	return command, environment, nil
}
