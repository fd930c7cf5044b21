package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// reading holds values in one notation against a service's shapes.
type reading struct {
	service *service
	as      notation
	request bool // whose sizes are checked too
}

func (r reading) check(path string, n *node, name string) error {
	s, ok := envelopes[name]
	if !ok {
		if s, ok = r.service.Shapes[name]; !ok {
			return fmt.Errorf("%s: the model lacks the shape %s", path, name)
		}
	}
	if !slices.Contains(r.as.kinds(s.Type), n.kind) {
		return fmt.Errorf("%s: JSON %s, want %s", path, n.kind, s.Type)
	}
	switch s.Type {
	case "structure":
		return r.structure(path, n, s)
	case "list":
		return r.list(path, n, s)
	case "map":
		for _, kid := range n.kids {
			if err := r.check(below(path, kid.name), kid, s.Value.Shape); err != nil {
				return err
			}
		}
		return nil
	}
	if len(n.kids) > 0 {
		return fmt.Errorf("%s is a %s and has no member %s", path, s.Type, n.kids[0].name)
	}
	if err := r.scalar(n.text, s); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (r reading) structure(path string, n *node, s shape) error {
	if strings.TrimSpace(n.text) != "" {
		return fmt.Errorf("%s is %q, want a structure", whole(path), n.text)
	}
	shapes := map[string]string{} // by the member's name as it is written
	for name, m := range s.Members {
		shapes[r.as.member(name, m)] = m.Shape
	}
	seen := map[string]bool{}
	for _, kid := range n.kids {
		shape, ok := shapes[kid.name]
		if !ok {
			return fmt.Errorf("%s has no member %q; it has %s", whole(path), kid.name,
				strings.Join(slices.Sorted(maps.Keys(shapes)), ", "))
		}
		if seen[kid.name] {
			return fmt.Errorf("%s is there twice", below(path, kid.name))
		}
		seen[kid.name] = true
		if err := r.check(below(path, kid.name), kid, shape); err != nil {
			return err
		}
	}
	for _, name := range s.Required {
		if as := r.as.member(name, s.Members[name]); !seen[as] {
			return fmt.Errorf("%s is missing", below(path, as))
		}
	}
	return nil
}

func (r reading) list(path string, n *node, s shape) error {
	elements, err := r.as.elements(n, s.Member)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if r.request {
		if err := s.limit(float64(len(elements))); err != nil {
			return fmt.Errorf("elements of %s: %w", path, err)
		}
	}
	for _, e := range elements {
		if err := r.check(path+"[]", e, s.Member.Shape); err != nil {
			return err
		}
	}
	return nil
}

func (r reading) scalar(text string, s shape) (err error) {
	size := float64(len([]rune(text)))
	switch s.Type {
	case "string":
		if s.Enum != nil && !slices.Contains(s.Enum, text) {
			err = fmt.Errorf("%q is none of %s", text, strings.Join(s.Enum, ", "))
		}
	case "boolean":
		if text != "true" && text != "false" {
			err = fmt.Errorf("%q is no boolean", text)
		}
		return err
	case "integer", "long":
		_, err = strconv.ParseInt(text, 10, map[string]int{"integer": 32, "long": 64}[s.Type])
		size, _ = strconv.ParseFloat(text, 64)
	case "float", "double":
		size, err = strconv.ParseFloat(text, 64)
	case "timestamp":
		return r.as.timestamp(text)
	case "blob":
		return base64Text(text)
	default:
		return fmt.Errorf("type %q is not known here", s.Type)
	}
	if err == nil && r.request {
		err = s.limit(size)
	}
	return err
}

// limit holds a number, a length or a count against the shape's bounds.
func (s shape) limit(size float64) error {
	if s.Min != nil && size < *s.Min || s.Max != nil && size > *s.Max {
		return fmt.Errorf("%v is out of bounds", size)
	}
	return nil
}

func below(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

func whole(path string) string { return cmp.Or(path, "it") }
