// Package sshd is a small SSH server for exec sessions: public keys only, one
// user, commands through a Handler. A lab machine serves it on port 22 with a
// Shell; tests serve it in process. It behaves like a cloud image's OpenSSH
// where a client could tell (session limit, exit status and signal, flow
// control) and offers nothing else: no terminals, no forwarding. It must not
// know machines, networks or the lab.
package sshd
