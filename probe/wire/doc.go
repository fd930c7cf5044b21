// Package wire holds the messages between the controller and the agent on a
// machine: JSON, one message a line, over the standard input and output of an
// SSH session. The controller sends Requests, the agent answers each with one
// Response of the same ID, in any order, after one Hello. It knows types, their
// limits and their encoding: who sends them, and over what, is not its business.
package wire
