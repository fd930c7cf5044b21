package vmtest

import (
	"errors"
	"fmt"
	"regexp"

	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/lab/vm"
)

var (
	hostname = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,62})$`)
	login    = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}$`)
)

// check refuses what no hypervisor could start.
func check(s vm.Spec) error {
	for name, value := range map[string]string{
		"ID": s.ID, "Cloud": s.Cloud, "Region": s.Region, "Zone": s.Zone, "MachineType": s.MachineType,
	} {
		if value == "" {
			return fmt.Errorf("%s is empty", name)
		}
	}
	if !hostname.MatchString(s.Hostname) {
		return fmt.Errorf("%q is no host name", s.Hostname)
	}
	if s.User != "" && !login.MatchString(s.User) {
		return fmt.Errorf("%q is no user name", s.User)
	}
	if s.BootDelay < 0 {
		return fmt.Errorf("boot delay %v is negative", s.BootDelay)
	}
	return checkKeys(s)
}

func checkKeys(s vm.Spec) error {
	for _, line := range s.AuthorizedKeys {
		if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err != nil {
			return fmt.Errorf("authorized key %q: %w", line, err)
		}
	}
	if len(s.AuthorizedKeys) > 0 && s.User == "" {
		return errors.New("keys for nobody")
	}
	if len(s.HostKeyPEM) > 0 {
		if _, err := ssh.ParsePrivateKey(s.HostKeyPEM); err != nil {
			return fmt.Errorf("host key: %w", err)
		}
	}
	return nil
}

func checkRule(r vm.Rule) error {
	switch r.Protocol {
	case "tcp", "udp":
	case "icmp", "all":
		if r.FromPort != 0 || r.ToPort != 0 {
			return fmt.Errorf("%s has no ports, got %d-%d", r.Protocol, r.FromPort, r.ToPort)
		}
	default:
		return fmt.Errorf("unknown protocol %q", r.Protocol)
	}
	if r.FromPort > r.ToPort {
		return fmt.Errorf("ports %d-%d are the wrong way round", r.FromPort, r.ToPort)
	}
	for _, p := range r.Sources {
		if !p.IsValid() || p != p.Masked() {
			return fmt.Errorf("source %v is no network", p)
		}
	}
	return nil
}
