package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestTagList(t *testing.T) {
	l := tagList{}
	for _, text := range []string{"team=net", "url=https://example.com/?a=b,c", "empty="} {
		if err := l.Set(text); err != nil {
			t.Errorf("Set(%q): %v", text, err)
		}
	}
	if l["url"] != "https://example.com/?a=b,c" || l.String() != "empty= team=net url=https://example.com/?a=b,c" {
		t.Errorf("got %v", l)
	}
	for _, text := range []string{"", "team", "=x", "team=other"} {
		if err := l.Set(text); err == nil {
			t.Errorf("Set(%q) succeeded", text)
		}
	}
}

// TestTagRules: what one cloud takes and the other doesn't, and what neither may
// be told, since our own would not be found any more.
func TestTagRules(t *testing.T) {
	long := strings.Repeat("x", 64)
	many := tagList{}
	for n := range 48 {
		many[fmt.Sprint("k", n)] = "v"
	}
	for name, c := range map[string]struct {
		tags     tagList
		aws, gcp bool // taken
	}{
		"none":             {nil, true, true},
		"plain":            {tagList{"team": "net-4", "cost_center": ""}, true, true},
		"capitals":         {tagList{"CostCenter": "R and D"}, true, false},
		"another script":   {tagList{"équipe": "réseau"}, true, false},
		"digit first":      {tagList{"4you": "x"}, true, false},
		"long key":         {tagList{long: "x"}, true, false},
		"long value":       {tagList{"x": long}, true, false},
		"too long":         {tagList{"x": strings.Repeat(long, 5)}, false, false},
		"odd sign":         {tagList{"x": "a;b"}, false, false},
		"AWS's own":        {tagList{"Aws:x": "y"}, false, false},
		"the name":         {tagList{"Name": "mine"}, false, false},
		"a name of theirs": {tagList{"name": "mine"}, true, true},
		"our run":          {tagList{"antipode-run": "r1"}, false, false},
		"our expiry":       {tagList{"antipode-expires": "never"}, false, false},
		"many":             {many, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			for cloud, want := range map[string]bool{"aws": c.aws, "gcp": c.gcp, "hosts": true} {
				err := c.tags.check([]string{cloud})
				if got := err == nil; got != want {
					t.Errorf("%s: %v", cloud, err)
				}
				if err != nil && exitCode(err) != exitUsage {
					t.Errorf("%s: exit code %d", cloud, exitCode(err))
				}
			}
		})
	}
}
