package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// node is a value in whatever notation it came: an XML element, a form's
// parameter with those below it, a JSON value.
type node struct {
	name string
	text string
	kind kind
	kids []*node
}

// kind is what a notation itself says of a value.
type kind string

const (
	untold  kind = "" // a form or XML: everything is text
	object  kind = "object"
	array   kind = "array"
	text    kind = "string"
	number  kind = "number"
	boolean kind = "boolean"
	null    kind = "null"
)

// at finds a node below n, nil if there is none.
func (n *node) at(path ...string) *node {
	for _, name := range path {
		i := slices.IndexFunc(n.kids, func(k *node) bool { return k.name == name })
		if i < 0 {
			return nil
		}
		n = n.kids[i]
	}
	return n
}

func (n *node) drop(names ...string) {
	n.kids = slices.DeleteFunc(n.kids, func(k *node) bool { return slices.Contains(names, k.name) })
}

// formNode splits "Filter.1.Value.2=x" at its dots.
func formNode(form url.Values) (*node, error) {
	root := &node{}
	for key := range form {
		if len(form[key]) != 1 {
			return nil, fmt.Errorf("%s is given %d times", key, len(form[key]))
		}
		at := root
		for name := range strings.SplitSeq(key, ".") {
			next := at.at(name)
			if next == nil {
				next = &node{name: name}
				at.kids = append(at.kids, next)
			}
			at = next
		}
		at.text = form[key][0]
	}
	root.sort()
	return root, nil
}

// sort brings numbers into their order: 2 before 10.
func (n *node) sort() {
	slices.SortFunc(n.kids, func(a, b *node) int {
		return cmp.Or(cmp.Compare(len(a.name), len(b.name)), strings.Compare(a.name, b.name))
	})
	for _, kid := range n.kids {
		kid.sort()
	}
}

// element is any XML element.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

func xmlNode(body []byte) (*node, error) {
	var root element
	if err := xml.Unmarshal(body, &root); err != nil {
		return nil, err
	}
	return root.node(), nil
}

func (e element) node() *node {
	n := &node{name: e.XMLName.Local, text: e.Text}
	for _, c := range e.Children {
		n.kids = append(n.kids, c.node())
	}
	return n
}

// jsonNode reads one JSON value.
func jsonNode(body []byte) (*node, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON value")
	}
	return jsonValue("", v), nil
}

func jsonValue(name string, v any) *node {
	n := &node{name: name, kind: null}
	switch v := v.(type) {
	case map[string]any:
		n.kind = object
		for _, key := range slices.Sorted(maps.Keys(v)) {
			n.kids = append(n.kids, jsonValue(key, v[key]))
		}
	case []any:
		n.kind = array
		for _, item := range v {
			n.kids = append(n.kids, jsonValue("", item))
		}
	case string:
		n.kind, n.text = text, v
	case json.Number:
		n.kind, n.text = number, v.String()
	case bool:
		n.kind, n.text = boolean, fmt.Sprint(v)
	}
	return n
}
