package machine

import (
	"log"
	"os"
	"path/filepath"
	"strings"
)

// sysctls of the machine's own network namespace.
var sysctls = []struct{ name, value string }{
	// An orphaned connection would keep the dead namespace in the kernel for two minutes.
	{"net/ipv4/tcp_orphan_retries", "1"},
	// One test must not teach the next its window.
	{"net/ipv4/tcp_no_metrics_save", "1"},
	// What an ordinary user runs there (antipode lab exec) may ping, and listen on any port.
	{"net/ipv4/ping_group_range", "0 0"},
	{"net/ipv4/ip_unprivileged_port_start", "0"},
}

// setSysctls tries; a rootless machine may not be allowed to, and works without.
func (l Link) setSysctls() {
	for _, s := range sysctls {
		setSysctl(s.name, s.value)
	}
	if !l.hasIPv6() { // no router solicitations into the lab
		setSysctl("net/ipv6/conf/"+l.Name+"/disable_ipv6", "1")
	}
}

func setSysctl(name, value string) {
	err := os.WriteFile(filepath.Join("/proc/sys", name), []byte(value), 0)
	if err != nil && !os.IsNotExist(err) {
		log.Printf("sysctl %s stays as it is: %v", strings.ReplaceAll(name, "/", "."), err)
	}
}
