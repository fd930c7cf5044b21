package model

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// notation is how one of Amazon's protocols writes shapes down.
type notation interface {
	member(name string, m member) string            // what a structure's member is called
	elements(list *node, m member) ([]*node, error) // of a list
	kinds(shapeType string) []kind                  // that values of this type may be of
	timestamp(text string) error                    // nil if it is one
}

// inText is what the notations share that are all text.
type inText struct{}

func (inText) kinds(string) []kind { return []kind{untold} }

func (inText) timestamp(text string) error {
	_, err := time.Parse(time.RFC3339, text)
	return err
}

// inXML is how answers are written, but those of JSON services.
type inXML struct{ inText }

func (inXML) member(name string, m member) string { return cmp.Or(m.LocationName, name) }

func (inXML) elements(list *node, m member) ([]*node, error) {
	want := cmp.Or(m.LocationName, "member")
	for _, kid := range list.kids {
		if kid.name != want {
			return nil, fmt.Errorf("an element is called %q, want %q", kid.name, want)
		}
	}
	return list.kids, nil
}

// inEC2Query is how EC2's requests are written: "Filter.1.Name=x".
type inEC2Query struct{ inText }

func (inEC2Query) member(name string, m member) string {
	written := cmp.Or(m.LocationName, name)
	return cmp.Or(m.QueryName, strings.ToUpper(written[:1])+written[1:])
}

func (inEC2Query) elements(list *node, _ member) ([]*node, error) {
	for i, kid := range list.kids {
		if kid.name != strconv.Itoa(i+1) {
			return nil, fmt.Errorf("element %q, want %d", kid.name, i+1)
		}
	}
	return list.kids, nil
}

// inQuery is how the requests of the other Query services are written:
// "Tags.member.1.Key=x".
type inQuery struct{ inText }

func (inQuery) member(name string, m member) string { return cmp.Or(m.LocationName, name) }

func (inQuery) elements(list *node, m member) ([]*node, error) {
	name := cmp.Or(m.LocationName, "member")
	if len(list.kids) != 1 || list.kids[0].name != name {
		return nil, fmt.Errorf("a list without %q", name)
	}
	return inEC2Query{}.elements(list.kids[0], m)
}

// inJSON is how requests and answers of JSON services are written.
type inJSON struct{}

func (inJSON) member(name string, m member) string { return cmp.Or(m.LocationName, name) }

func (inJSON) elements(list *node, _ member) ([]*node, error) { return list.kids, nil }

func (inJSON) kinds(shapeType string) []kind {
	switch shapeType {
	case "structure", "map":
		return []kind{object}
	case "list":
		return []kind{array}
	case "boolean":
		return []kind{boolean}
	case "string", "blob":
		return []kind{text}
	}
	return []kind{number}
}

// timestamp is in seconds since 1970.
func (inJSON) timestamp(text string) error {
	_, err := strconv.ParseFloat(text, 64)
	return err
}

func base64Text(text string) error {
	_, err := base64.StdEncoding.DecodeString(text)
	return err
}
