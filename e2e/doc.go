// Package e2e drives the command as a user would: it runs bin/antipode, reads
// what it prints and the files it leaves, and looks at no internals. Everything
// it starts runs on the lab, in a folder of its own.
package e2e
