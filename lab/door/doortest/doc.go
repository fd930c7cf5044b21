// Package doortest opens the lab's doors for tests: of the doors themselves, and of
// what talks to them. No network is between the two, and machines are only
// remembered, so that it all can happen inside a synctest bubble.
package doortest
