package model

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// discovery is Google's model of one API, as far as it is checked.
type discovery struct {
	Name        string               `json:"name"`
	Revision    string               `json:"revision"`
	ServicePath string               `json:"servicePath"`
	Parameters  map[string]parameter `json:"parameters"` // that every method takes
	Resources   map[string]resource  `json:"resources"`
	Schemas     map[string]*schema   `json:"schemas"`
}

type resource struct {
	Methods map[string]*method `json:"methods"`
}

type method struct {
	ID         string               `json:"id"` // "compute.instances.insert"
	HTTPMethod string               `json:"httpMethod"`
	Path       string               `json:"flatPath"` // "projects/{project}/zones/{zone}/instances"
	Parameters map[string]parameter `json:"parameters"`
	Request    *schema              `json:"request,omitzero"`
	Response   *schema              `json:"response,omitzero"`
}

type parameter struct {
	schema
	Location string `json:"location"` // path, query
	Required bool   `json:"required,omitzero"`
	Repeated bool   `json:"repeated,omitzero"`
}

// system are query parameters that every API of Google's takes and that no
// discovery document names. https://cloud.google.com/apis/docs/system-parameters
var system = []string{"$alt", "$prettyPrint", "$fields"}

var discoveries = sync.OnceValues(func() ([]*discovery, error) { return read[discovery]("google") })

// googleCall is a call of one of Google's APIs.
type googleCall struct {
	*discovery
	*method
	path  map[string]string
	query url.Values
	body  []byte
}

func describeGoogle(r *http.Request, body []byte) (*googleCall, error) {
	all, err := discoveries()
	if err != nil {
		return nil, err
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		for _, resource := range d.Resources {
			for _, m := range resource.Methods {
				if at, ok := m.match(r.Method, r.URL.Path, "/"+d.ServicePath); ok {
					return &googleCall{d, m, at, query, body}, nil
				}
			}
		}
	}
	return nil, errors.New("no method has this path (or calls.txt has no line for it)")
}

// match reads the parameters in a path: each is in one segment.
func (m *method) match(verb, path, prefix string) (map[string]string, bool) {
	want, got := strings.Split(prefix+m.Path, "/"), strings.Split(path, "/")
	if verb != m.HTTPMethod || len(want) != len(got) {
		return nil, false
	}
	at := map[string]string{}
	for i, segment := range want {
		name, rest, ok := strings.Cut(strings.TrimPrefix(segment, "{"), "}")
		if !ok && segment != got[i] || !strings.HasSuffix(got[i], rest) {
			return nil, false
		}
		if ok {
			at[name] = strings.TrimSuffix(got[i], rest)
		}
	}
	return at, true
}

func (c *googleCall) called() Call {
	return Call{Service: c.Name, Name: strings.TrimPrefix(c.ID, c.Name+".")}
}

func (c *googleCall) checkRequest() error {
	for name, value := range c.path {
		p, ok := c.method.Parameters[name]
		if !ok {
			continue // a part of one: the flat path is finer
		}
		if err := p.value(value); err != nil {
			return fmt.Errorf("%s in the path: %w", name, err)
		}
	}
	if err := c.checkQuery(); err != nil {
		return err
	}
	if c.Request == nil {
		if len(c.body) > 0 {
			return errors.New("it takes no body")
		}
		return nil
	}
	n, err := jsonNode(c.body)
	if err != nil {
		return fmt.Errorf("body: %w", err)
	}
	return schemaReading{c.Schemas, c.ID}.check("", n, c.Request)
}

func (c *googleCall) checkQuery() error {
	for name, values := range c.query {
		p, ok := c.method.Parameters[name]
		if !ok || p.Location != "query" {
			p, ok = c.discovery.Parameters[name]
		}
		switch {
		case !ok && !slices.Contains(system, name):
			return fmt.Errorf("no query parameter %q", name)
		case len(values) > 1 && !p.Repeated:
			return fmt.Errorf("query parameter %s is given %d times", name, len(values))
		case ok:
			for _, v := range values {
				if err := p.value(v); err != nil {
					return fmt.Errorf("query parameter %s: %w", name, err)
				}
			}
		}
	}
	for name, p := range c.method.Parameters {
		if p.Required && p.Location == "query" && !c.query.Has(name) {
			return fmt.Errorf("query parameter %s is missing", name)
		}
	}
	return nil
}

func (c *googleCall) checkAnswer(resp *http.Response, body []byte) error {
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return fmt.Errorf("content type %q", kind)
	}
	n, err := jsonNode(body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return checkFailure(n, resp.StatusCode)
	}
	return schemaReading{c.Schemas, ""}.check("", n, c.Response)
}
