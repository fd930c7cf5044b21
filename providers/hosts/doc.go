// Package hosts makes machines that are already there into regions: any Linux
// host that SSH reaches. It reads the inventory file that lists them, with
// everything it takes to log in (keys, ssh-agent, known_hosts), and is a
// providers.Provider that creates nothing, opens nothing and leaves nothing. The
// command line calls it. It must not know the orchestrator nor any cloud.
package hosts
