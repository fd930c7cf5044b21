package model

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// schema is a type of a discovery document: JSON Schema, more or less.
// https://developers.google.com/discovery/v1/type-format
type schema struct {
	Ref         string             `json:"$ref,omitzero"` // to another schema, and then nothing else
	Type        string             `json:"type,omitzero"`
	Format      string             `json:"format,omitzero"`
	Enum        []string           `json:"enum,omitzero"`
	Pattern     *pattern           `json:"pattern,omitzero"`
	Items       *schema            `json:"items,omitzero"`
	Properties  map[string]*schema `json:"properties,omitzero"`
	Additional  *schema            `json:"additionalProperties,omitzero"` // of an object used as a map
	Annotations annotations        `json:"annotations,omitzero"`
}

type annotations struct {
	Required []string `json:"required,omitzero"` // the methods that want the member
}

// schemaReading holds JSON values against schemas.
type schemaReading struct {
	schemas map[string]*schema
	method  string // whose request it is; empty for an answer
}

func (r schemaReading) check(path string, n *node, s *schema) error {
	for s != nil && s.Ref != "" {
		s = r.schemas[s.Ref]
	}
	if s == nil {
		return fmt.Errorf("%s: the model lacks its schema", whole(path))
	}
	if want := s.kind(); n.kind != want && s.Type != "any" {
		return fmt.Errorf("%s: JSON %s, want %s", whole(path), n.kind, want)
	}
	switch s.Type {
	case "any":
		return nil
	case "object":
		return r.object(path, n, s)
	case "array":
		for _, kid := range n.kids {
			if err := r.check(path+"[]", kid, s.Items); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.value(n.text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (s *schema) kind() kind {
	if s.Type == "integer" {
		return number
	}
	return kind(s.Type)
}

func (r schemaReading) object(path string, n *node, s *schema) error {
	seen := map[string]bool{}
	for _, kid := range n.kids {
		of, ok := s.Properties[kid.name]
		if !ok {
			of = s.Additional
		}
		if of == nil {
			return fmt.Errorf("%s has no member %q; it has %s", whole(path), kid.name,
				strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", "))
		}
		seen[kid.name] = true
		if err := r.check(below(path, kid.name), kid, of); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Properties[name].Annotations.Required, r.method) && !seen[name] {
			return fmt.Errorf("%s is missing", below(path, name))
		}
	}
	return nil
}

// value checks what is no object and no list, as text.
func (s *schema) value(text string) (err error) {
	switch s.Type + " " + s.Format {
	case "boolean ":
		_, err = strconv.ParseBool(text)
	case "integer int32", "integer ":
		_, err = strconv.ParseInt(text, 10, 32)
	case "integer uint32":
		_, err = strconv.ParseUint(text, 10, 32)
	case "string int64":
		_, err = strconv.ParseInt(text, 10, 64)
	case "string uint64":
		_, err = strconv.ParseUint(text, 10, 64)
	case "number double", "number float", "number ":
		_, err = strconv.ParseFloat(text, 64)
	case "string byte":
		err = base64Text(text)
	case "string date-time", "string google-datetime":
		_, err = time.Parse(time.RFC3339, text)
	case "string ", "string google-duration":
		err = s.word(text)
	default:
		err = fmt.Errorf("type %q, format %q are not known here", s.Type, s.Format)
	}
	return err
}

func (s *schema) word(text string) error {
	if s.Enum != nil && !slices.Contains(s.Enum, text) {
		return fmt.Errorf("%q is none of %s", text, strings.Join(s.Enum, ", "))
	}
	if s.Pattern != nil && !s.Pattern.whole.MatchString(text) {
		return fmt.Errorf("%q does not match %s", text, s.Pattern.text)
	}
	return nil
}

// pattern is a regular expression for a whole text.
type pattern struct {
	text  string
	whole *regexp.Regexp
}

func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.text = string(text)
	p.whole, err = regexp.Compile("^(?:" + p.text + ")$")
	return err
}

func (p *pattern) MarshalText() ([]byte, error) { return []byte(p.text), nil }

// checkFailure looks at the frame that Google's errors come in.
// https://cloud.google.com/apis/design/errors
func checkFailure(n *node, status int) error {
	failure := n.at("error")
	if failure == nil || len(n.kids) != 1 || failure.at("message") == nil {
		return errors.New("an error without a message")
	}
	if code := failure.at("code"); code == nil || code.kind != number || code.text != strconv.Itoa(status) {
		return errors.New("an error whose code is not the answer's status")
	}
	for _, e := range failure.at("errors").kids {
		for _, name := range []string{"domain", "message", "reason"} {
			if e.at(name) == nil {
				return fmt.Errorf("an error without a %s", name)
			}
		}
	}
	return nil
}
