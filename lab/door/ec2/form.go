package ec2

import (
	"cmp"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A request of the Query API is a flat form whose names are paths:
// "TagSpecification.1.Tag.2.Key". parseForm turns it into a tree, decode the
// tree into a struct. What the struct does not have is an error, as it is at
// AWS, so that nothing a caller asks for is passed over in silence.

// maxDepth and maxIndex bound what a form can make the door build.
const (
	maxDepth = 8
	maxIndex = 5000
)

type node struct {
	value    string
	set      bool
	children map[string]*node
}

func parseForm(form url.Values) (*node, error) {
	root := &node{}
	for name, values := range form {
		if len(values) != 1 {
			return nil, bad("InvalidParameterValue", "The parameter %s is given %d times", name, len(values))
		}
		path := strings.Split(name, ".")
		if len(path) > maxDepth {
			return nil, unknownParameter(name)
		}
		n := root
		for _, step := range path {
			n = n.child(step)
		}
		n.value, n.set = values[0], true
	}
	return root, nil
}

func (n *node) child(name string) *node {
	if n.children == nil {
		n.children = map[string]*node{}
	}
	if n.children[name] == nil {
		n.children[name] = &node{}
	}
	return n.children[name]
}

func (n *node) take(name string) (value string, ok bool) {
	c := n.children[name]
	if c == nil {
		return "", false
	}
	delete(n.children, name)
	return c.value, c.set
}

// at is the value at a path; empty when there is none.
func (n *node) at(path ...string) string {
	for _, step := range path {
		if n = n.children[step]; n == nil {
			return ""
		}
	}
	return n.value
}

func unknownParameter(name string) *failure {
	return bad("UnknownParameter", "The parameter %s is not recognized", name)
}

// decode fills the struct that into points to. A field's name in the form is
// its tag `form:"Name"`, or its Go name; `form:",required"` must be there.
func (n *node) decode(into any) error {
	return n.decodeStruct("", reflect.ValueOf(into).Elem())
}

func (n *node) decodeStruct(path string, v reflect.Value) error {
	if n.set && n.value != "" {
		return bad("InvalidParameterValue", "The parameter %s takes no value itself", path)
	}
	rest := maps.Clone(n.children)
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Anonymous {
			continue // its own fields are visible too
		}
		name, required := fieldName(f)
		child, ok := rest[name]
		delete(rest, name)
		switch {
		case ok:
			if err := child.decodeValue(join(path, name), v.FieldByIndex(f.Index)); err != nil {
				return err
			}
		case required:
			return missing(join(path, name))
		}
	}
	for name := range rest {
		return unknownParameter(join(path, name))
	}
	return nil
}

func fieldName(f reflect.StructField) (name string, required bool) {
	name, option, _ := strings.Cut(f.Tag.Get("form"), ",")
	return cmp.Or(name, f.Name), option == "required"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (n *node) decodeValue(path string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return n.decodeValue(path, v.Elem())
	case reflect.Struct:
		return n.decodeStruct(path, v)
	case reflect.Slice:
		return n.decodeList(path, v)
	}
	if len(n.children) > 0 {
		for name := range n.children {
			return unknownParameter(join(path, name))
		}
	}
	return decodeScalar(path, n.value, v)
}

func decodeScalar(path, value string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(value)
	case reflect.Bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return invalidValue(path, value)
		}
		v.SetBool(b)
	case reflect.Int:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return invalidValue(path, value)
		}
		v.SetInt(n)
	default:
		panic("form: no way to decode a " + v.Kind().String())
	}
	return nil
}

// decodeList takes the children by their numbers, which need not be dense.
func (n *node) decodeList(path string, v reflect.Value) error {
	index := map[int]*node{}
	for name, child := range n.children {
		i, err := strconv.Atoi(name)
		if err != nil || i < 1 || i > maxIndex || strconv.Itoa(i) != name {
			return unknownParameter(join(path, name))
		}
		index[i] = child
	}
	for _, i := range slices.Sorted(maps.Keys(index)) {
		item := reflect.New(v.Type().Elem()).Elem()
		if err := index[i].decodeValue(join(path, strconv.Itoa(i)), item); err != nil {
			return err
		}
		v.Set(reflect.Append(v, item))
	}
	return nil
}
