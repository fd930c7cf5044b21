package aws

import (
	"fmt"
	"strings"
	"time"
)

// selfDestruct powers the machine off at a Unix time, which terminates it. It
// is computed at every boot, so that it survives reboots. It runs in the
// background: early in a boot, shutdown may wait for the system bus. What
// shutdown schedules is lost when the bus never comes or logind restarts, so a
// minute later the machine pulls the plug itself.
const selfDestruct = `left=$(( (%d - $(date +%%s) + 59) / 60 )); [ "$left" -gt 0 ] || left=0; ` +
	`{ shutdown -P "+$left"; sleep "$((left * 60 + 60))"; poweroff -ff; } </dev/null >/dev/null 2>&1 &`

// userData is the cloud-init document of a machine: the end of its life first,
// then the host key the controller has pinned. The key is the only one made
// (ssh_genkeytypes for what runs outside cloud-init), and replaces the image's.
func userData(expires time.Time, hostKeyPEM []byte, hostKey string) string {
	var b strings.Builder
	b.WriteString("#cloud-config\nbootcmd:\n  - |\n")
	fmt.Fprintf(&b, "    "+selfDestruct+"\n", expires.Unix())
	b.WriteString("ssh_deletekeys: true\nssh_genkeytypes: [ed25519]\nssh_keys:\n  ed25519_private: |\n")
	for line := range strings.Lines(strings.TrimSpace(string(hostKeyPEM))) {
		fmt.Fprintf(&b, "    %s\n", strings.TrimSpace(line))
	}
	fmt.Fprintf(&b, "  ed25519_public: %s\n", strings.TrimSpace(hostKey))
	return b.String()
}
