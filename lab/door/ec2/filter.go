package ec2

import (
	"encoding/base64"
	"path"
	"slices"
	"strconv"
	"strings"
)

// filter narrows a describe down: one of the values, "*" and "?" as wildcards.
type filter struct {
	Name  string   `form:",required"`
	Value []string `form:",required"`
}

// match says whether something with these tags and fields passes all filters.
// A filter on a field that the kind of thing does not have is an error.
func match(filters []filter, t tags, fields map[string][]string) (bool, error) {
	all := true
	for _, f := range filters {
		has, err := f.values(t, fields)
		if err != nil {
			return false, err
		}
		all = all && slices.ContainsFunc(has, f.accepts)
	}
	return all, nil
}

func (f filter) values(t tags, fields map[string][]string) ([]string, error) {
	if key, ok := strings.CutPrefix(f.Name, "tag:"); ok {
		if v, ok := t[key]; ok {
			return []string{v}, nil
		}
		return nil, nil
	}
	if f.Name == "tag-key" {
		var keys []string
		for k := range t {
			keys = append(keys, k)
		}
		return keys, nil
	}
	has, ok := fields[f.Name]
	if !ok {
		return nil, bad("InvalidParameterValue", "The filter '%s' is invalid", f.Name)
	}
	return has, nil
}

func (f filter) accepts(value string) bool {
	return slices.ContainsFunc(f.Value, func(pattern string) bool { return wildcard(pattern, value) })
}

// escape takes the meaning from what path.Match knows beside "*" and "?"; the
// slash has one there too.
var escape = strings.NewReplacer(`[`, `\[`, `/`, "\x00")

func wildcard(pattern, value string) bool {
	ok, err := path.Match(escape.Replace(pattern), strings.ReplaceAll(value, "/", "\x00"))
	return err == nil && ok
}

// paging is embedded in the input of every describe that answers in pages.
type paging struct {
	MaxResults *int
	NextToken  string
}

type span struct{ from, to int }

const tokenPrefix = "from:"

// page returns which of n results, in an order that does not change, to answer
// with, and the token of the rest. Results added or removed between
// two pages shift them, as at AWS.
func (p paging) page(n int) (span, string, error) {
	from, err := p.from()
	if err != nil {
		return span{}, "", err
	}
	from = min(from, n)
	if p.MaxResults == nil {
		return span{from, n}, "", nil
	}
	if *p.MaxResults < 5 || *p.MaxResults > 1000 {
		return span{}, "", bad("InvalidParameterValue",
			"Value ( %d ) for parameter maxResults is invalid. Expecting a value between 5 and 1000.", *p.MaxResults)
	}
	to := from + *p.MaxResults
	if to >= n {
		return span{from, n}, "", nil
	}
	return span{from, to}, base64.RawURLEncoding.EncodeToString([]byte(tokenPrefix + strconv.Itoa(to))), nil
}

func (p paging) from() (int, error) {
	if p.NextToken == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(p.NextToken)
	text, ok := strings.CutPrefix(string(raw), tokenPrefix)
	from, convErr := strconv.Atoi(text)
	if err != nil || !ok || convErr != nil || from < 0 {
		return 0, bad("InvalidNextToken", "The token '%s' is invalid", p.NextToken)
	}
	return from, nil
}
