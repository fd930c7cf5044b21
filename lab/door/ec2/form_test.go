package ec2

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Key  string `form:",required"`
	List []int
}

type outer struct {
	Name   string `form:"TheName,required"`
	Flag   *bool
	Number int
	Items  []inner `form:"Item"`
	Nested inner
	paging
}

func decodeOuter(t *testing.T, query string) (outer, error) {
	t.Helper()
	form, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	root, err := parseForm(form)
	if err != nil {
		return outer{}, err
	}
	var out outer
	return out, root.decode(&out)
}

func TestDecode(t *testing.T) {
	yes, five := true, 5
	got, err := decodeOuter(t, "TheName=n&Flag=true&Number=-1&Item.10.Key=b&Item.2.Key=a&Item.2.List.1=7&Item.2.List.2=8&Nested.Key=k&MaxResults=5")
	if err != nil {
		t.Fatal(err)
	}
	want := outer{Name: "n", Flag: &yes, Number: -1, Nested: inner{Key: "k"}, paging: paging{MaxResults: &five},
		Items: []inner{{Key: "a", List: []int{7, 8}}, {Key: "b"}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outer{})); diff != "" {
		t.Errorf("decode (-want +got):\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for query, want := range map[string]string{
		"":                               "MissingParameter: The request must contain the parameter TheName",
		"TheName=n&Nested.List.1=1":      "MissingParameter: The request must contain the parameter Nested.Key",
		"TheName=n&Other=1":              "UnknownParameter: The parameter Other",
		"TheName=n&Item.1.Key=k&Item.x=": "UnknownParameter: The parameter Item.x",
		"TheName=n&Item.0.Key=k":         "UnknownParameter: The parameter Item.0",
		"TheName=n&Item.01.Key=k":        "UnknownParameter: The parameter Item.01",
		"TheName=n&TheName=m":            "InvalidParameterValue: The parameter TheName is given 2 times",
		"TheName.x=n":                    "UnknownParameter: The parameter TheName.x",
		"TheName=n&Flag=maybe":           "InvalidParameterValue",
		"TheName=n&Number=99999999999":   "InvalidParameterValue",
		"TheName=n&Nested=1":             "InvalidParameterValue",
		"TheName=n&a.b.c.d.e.f.g.h.i=1":  "UnknownParameter",
	} {
		if _, err := decodeOuter(t, query); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
}

func TestWildcard(t *testing.T) {
	for _, c := range []struct {
		pattern, value string
		want           bool
	}{
		{"a*", "abc", true}, {"a?c", "abc", true}, {"a?", "abc", false}, {"*", "a/b", true},
		{"[a]", "[a]", true}, {"[a]", "a", false}, {"ubuntu/*-server-*", "ubuntu/images/x-server-1", true},
	} {
		if got := wildcard(c.pattern, c.value); got != c.want {
			t.Errorf("wildcard(%q, %q) = %v", c.pattern, c.value, got)
		}
	}
}

func TestScope(t *testing.T) {
	key, region, service, err := scope("AWS4-HMAC-SHA256 Credential=AKID/20261130/eu-west-1/ec2/aws4_request, SignedHeaders=host, Signature=0")
	if key != "AKID" || region != "eu-west-1" || service != "ec2" || err != nil {
		t.Errorf("scope = %q, %q, %q, %v", key, region, service, err)
	}
	for _, bad := range []string{"", "Bearer x", "AWS4-HMAC-SHA256 Credential=AKID/20261130/ec2, x"} {
		if _, _, _, err := scope(bad); err == nil {
			t.Errorf("scope(%q) = nil error", bad)
		}
	}
}
