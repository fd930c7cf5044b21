package main

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/antipode-bench/antipode/lab"
)

func TestLabExecUsage(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir()) // no lab is up there
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing":          {nil, `want one region, "--" and a command`},
		"no command":       {[]string{"aws:us-east-1", "--"}, `want one region, "--" and a command`},
		"no dashes":        {[]string{"aws:us-east-1", "true"}, `want one region, "--" and a command`},
		"two regions":      {[]string{"aws:us-east-1", "gcp:us-east4", "--", "true"}, `want one region, "--" and a command`},
		"no region":        {[]string{"--", "true"}, `want one region, "--" and a command`},
		"bad name":         {[]string{"--lab", "a/b", "aws:us-east-1", "--", "true"}, `--lab: lab name "a/b"`},
		"no lab":           {[]string{"aws:us-east-1", "--", "true"}, "no lab is up"},
		"flags of another": {[]string{"aws:us-east-1", "--", "true", "--lab", "a/b"}, "no lab is up"},
	} {
		root := newRoot()
		root.SetArgs(append([]string{"lab", "exec"}, c.args...))
		err := root.Execute()
		if err == nil || !strings.Contains(err.Error(), c.want) || exitCode(err) != exitUsage {
			t.Errorf("%s: %v, exit code %d; want %q, %d", name, err, exitCode(err), c.want, exitUsage)
		}
	}
}

func TestPrintPlaces(t *testing.T) {
	var b bytes.Buffer
	err := printPlaces(&b, []lab.Place{
		{Region: "aws:us-east-1", Name: "aws-us-east-1", Address: netip.MustParseAddr("198.18.1.1"), IPv6: netip.MustParseAddr("2001:2::c612:101")},
		{Region: "own:here", Name: "own-here", Address: netip.MustParseAddr("198.18.1.2")},
	})
	const want = `REGION         NAME               ADDRESS     IPV6
aws:us-east-1  aws-us-east-1.lab  198.18.1.1  2001:2::c612:101
own:here       own-here.lab       198.18.1.2  -
`
	if err != nil || b.String() != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, b.String(), want)
	}
}
