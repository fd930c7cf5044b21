package aws

import (
	"fmt"
	"strings"
	"time"
)

// selfDestruct powers the machine off at a Unix time, which terminates it. It
// is computed at every boot, so that it survives reboots. Three things do it,
// each without waiting for another: what shutdown schedules, to the minute, is
// lost when the system bus never comes or logind restarts; so when the second
// has come the machine is shut down at once; and if that hangs it pulls the plug
// itself a minute later.
const selfDestruct = `left=$(( %d - $(date +%%s) )); [ "$left" -gt 0 ] || left=0; ` +
	`{ shutdown -P "+$(( (left + 59) / 60 ))" & sleep "$left"; shutdown -P now & sleep 60; poweroff -ff; } ` +
	`</dev/null >/dev/null 2>&1 &`

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
