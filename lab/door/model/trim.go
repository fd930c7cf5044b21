package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxEnum is more values than any enum has but EC2's machine types. Those are
// what is for sale and no part of the API: there are new ones every month.
const maxEnum = 500

// TrimAWS cuts a service-2.json of botocore down to some calls.
func TrimAWS(full []byte, calls []string) ([]byte, error) {
	var s service
	if err := json.Unmarshal(full, &s); err != nil {
		return nil, err
	}
	small := service{Metadata: s.Metadata, Operations: map[string]operation{}, Shapes: map[string]shape{}}
	for _, name := range calls {
		o, ok := s.Operations[name]
		if !ok {
			return nil, fmt.Errorf("%s has no call %s", s.Metadata.Name, name)
		}
		small.Operations[name] = o
		small.keep(s.Shapes, o.Input.Shape)
		small.keep(s.Shapes, o.Output.Shape)
	}
	return lines(small)
}

// keep takes over a shape and those it is made of.
func (s service) keep(from map[string]shape, name string) {
	if _, ok := s.Shapes[name]; ok || name == "" {
		return
	}
	sh := from[name]
	if len(sh.Enum) > maxEnum {
		sh.Enum = nil
	}
	s.Shapes[name] = sh
	s.keep(from, sh.Member.Shape)
	s.keep(from, sh.Value.Shape)
	for _, m := range sh.Members {
		s.keep(from, m.Shape)
	}
}

// TrimGoogle cuts a discovery document down to some calls.
func TrimGoogle(full []byte, calls []string) ([]byte, error) {
	var d discovery
	if err := json.Unmarshal(full, &d); err != nil {
		return nil, err
	}
	small := d
	small.Resources, small.Schemas = map[string]resource{}, map[string]*schema{}
	for _, call := range calls {
		name, verb, _ := strings.Cut(call, ".")
		m := d.Resources[name].Methods[verb]
		if m == nil {
			return nil, fmt.Errorf("%s has no call %s", d.Name, call)
		}
		if _, ok := small.Resources[name]; !ok {
			small.Resources[name] = resource{map[string]*method{}}
		}
		small.Resources[name].Methods[verb] = m
		small.keep(d.Schemas, m.Request)
		small.keep(d.Schemas, m.Response)
	}
	return lines(small)
}

// keep takes over what a schema refers to.
func (d discovery) keep(from map[string]*schema, s *schema) {
	if s == nil {
		return
	}
	if s.Ref != "" && d.Schemas[s.Ref] == nil {
		d.Schemas[s.Ref] = from[s.Ref]
		d.keep(from, from[s.Ref])
	}
	d.keep(from, s.Items)
	d.keep(from, s.Additional)
	for _, p := range s.Properties {
		d.keep(from, p)
	}
}

// lines writes a model with one line for each of its parts' members, so that
// changes can be read.
func lines(model any) ([]byte, error) {
	raw, err := json.Marshal(model)
	if err != nil {
		return nil, err
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	open := "{"
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		var members map[string]json.RawMessage
		if json.Unmarshal(parts[name], &members) != nil {
			fmt.Fprintf(&b, "%s\n%q: %s", open, name, parts[name])
		} else {
			fmt.Fprintf(&b, "%s\n%q: {", open, name)
			for i, member := range slices.Sorted(maps.Keys(members)) {
				fmt.Fprintf(&b, "%s\n\t%q: %s", map[bool]string{true: ","}[i > 0], member, members[member])
			}
			b.WriteString("\n}")
		}
		open = ","
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}
