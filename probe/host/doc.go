// Package host reads what a Linux machine does besides a test: how busy its
// CPUs are and who with, what its kernel dropped, and what its network card
// counted, as its driver names it. The probe reads it before and after a test,
// at both ends. It needs no privileges, starts no programs, and takes what the
// machine does not say for nothing: a number is missing then, and never wrong.
package host
