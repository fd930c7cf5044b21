package router

import (
	"strings"
	"time"
)

// Cut is a time in which nothing passes between the controller's place and
// machines: neither side is told, and connections stay open. Machines go on
// reaching each other.
type Cut struct {
	Cloud, Region string        // whose machines, "aws" and "us-east-1"; empty: all
	After         time.Duration // the first packet from one machine to another
	For           time.Duration
}

func (c Cut) concerns(region string) bool {
	cloud, name, _ := strings.Cut(region, ":")
	return (c.Cloud == "" || c.Cloud == cloud) && (c.Region == "" || c.Region == name)
}

// cuts are those of a router, and when its machines began to talk.
type cuts struct {
	all     []Cut
	talking bool
	since   time.Duration
}

// sever reports whether a packet between two regions does not pass now.
func (c *cuts) sever(from, to string, now time.Duration) bool {
	if from != "" && to != "" {
		if !c.talking {
			c.talking, c.since = true, now
		}
		return false
	}
	for _, one := range c.all {
		begins := c.since + one.After
		if c.talking && one.concerns(from+to) && now >= begins && now < begins+one.For {
			return true
		}
	}
	return false
}
