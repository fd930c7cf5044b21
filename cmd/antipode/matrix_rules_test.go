//go:build !race

package main

import (
	"strings"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/results"
)

// ending is what a sweep comes to.
type ending struct {
	hit  string // what the rows of pairs with a region that is hit may be
	rest string // those of the others
	exit int    // code
	or   int    // another code that may be, which luck decides; 0: none
}

// What rows may be.
const (
	ok      = results.StatusOK
	failed  = results.StatusFailed
	skipped = results.StatusSkipped
	notOK   = failed + " or " + skipped
)

var (
	recovers = ending{hit: ok, rest: ok, exit: exitOK}
	fails    = ending{hit: failed, rest: ok, exit: exitPairs}
	skips    = ending{hit: skipped, rest: ok, exit: exitOK}
	stops    = ending{hit: notOK, rest: skipped, exit: exitFailed} // refused credentials are refused everywhere
)

// want is how a cell's sweep ends: by the first exception that holds, or else
// by the rules.
func (c cell) want() ending {
	for _, e := range exceptions {
		if e.of(c) {
			return e.ending(c)
		}
	}
	e := c.launchEnding()
	if c.always && c.teardown {
		e.exit = exitTeardown // what is left can't be seen, or can't be removed
	}
	return e
}

// launchEnding is what the fault does before teardown.
func (c cell) launchEnding() ending {
	switch {
	case !c.launch:
		return recovers // everything was measured before
	case passes(c.kind) && !c.always:
		return recovers
	case c.kind == fault.Quota:
		return skips
	case c.kind == fault.Denied:
		return stops
	}
	return fails
}

func always(e ending) func(cell) ending { return func(cell) ending { return e } }

// exceptions are the cells where the rules do not hold, with the reason.
var exceptions = []struct {
	why    string
	of     func(cell) bool
	ending func(cell) ending
}{
	{"another zone has room", func(c cell) bool {
		return c.kind == fault.Capacity && !c.always &&
			(c.is("RunInstances") || c.is("instances.insert") || c.is("CreateSubnet") || c.is("AssociateRouteTable"))
	}, always(recovers)},
	{"what was made though nobody heard of it is looked for before it is made again", func(c cell) bool {
		return c.kind == fault.ResetAfter && (c.is("CreateVpc") || c.is("CreateInternetGateway"))
	}, always(recovers)},
	{"GCE knows of no capacity but in the operation that makes a machine: no other call goes wrong", func(c cell) bool {
		return c.kind == fault.Capacity && c.cloud == "gcp" && !c.is("instances.insert")
	}, always(recovers)},
	{"a machine that ends for want of room is told so by DescribeInstances: another zone has room", func(c cell) bool {
		return c.kind == fault.Capacity && !c.always && c.is("DescribeInstances")
	}, always(recovers)},
	{"a delete is done though nobody hears of it: the lists show that", func(c cell) bool {
		return c.kind == fault.ResetAfter && !c.launch && c.deletes()
	}, always(recovers)},
	{"teardown looks at the lists, and needs no operation's end", func(c cell) bool {
		return c.always && strings.HasSuffix(c.call, "Operations.get")
	}, cell.launchEnding},
	{"of two regions that make a global call, only the first to ask is hit", func(c cell) bool {
		return c.kind == fault.Quota && !c.always && c.launch && c.global
	}, always(ending{hit: ok + " or " + skipped, rest: ok, exit: exitOK})},
	{"a list of VPCs that was refused before anything was made hides nothing, unless another region's launch had begun", func(c cell) bool {
		return c.kind == fault.Denied && c.always && c.is("DescribeVpcs")
	}, always(ending{hit: notOK, rest: skipped, exit: exitTeardown, or: exitFailed})},
}

func (e ending) allows(exit int) bool { return exit == e.exit || e.or != 0 && exit == e.or }

func (c cell) is(call string) bool { return c.call == call }

func (c cell) deletes() bool {
	return strings.HasPrefix(c.call, "Delete") || strings.HasPrefix(c.call, "Detach") || strings.HasPrefix(c.call, "Terminate") || strings.HasSuffix(c.call, ".delete")
}

// passes says whether asking again may get over the fault.
func passes(k fault.Kind) bool {
	return k == fault.Throttle || k == fault.Error500 || k == fault.ResetAfter || k == fault.Silent || k == fault.BadOperation
}
