package ec2_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// model is the published description of EC2's answers. The SDK passes over an
// element it does not know; the model does not.
type model struct {
	Operations map[string]*string `json:"operations"` // to the shape of the answer; null: only "return"
	Shapes     map[string]shape   `json:"shapes"`
}

type shape struct {
	Type    string            `json:"type"`
	Members map[string]string `json:"members"` // element to shape
	Item    string            `json:"item"`    // element of a list
	Member  string            `json:"member"`  // shape of a list's elements
	Enum    []string          `json:"enum"`
}

var readModel = sync.OnceValues(func() (*model, error) {
	raw, err := os.ReadFile("testdata/model.json")
	if err != nil {
		return nil, err
	}
	m := &model{}
	return m, json.Unmarshal(raw, m)
})

// modelled fails the test when an answer of EC2 is not as the model says.
type modelled struct {
	t    *testing.T
	next http.RoundTripper
}

func (m modelled) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := m.next.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if bytes.Contains(body, []byte("http://ec2.amazonaws.com/doc/")) {
		if err := checkModel(body); err != nil {
			m.t.Errorf("the answer is not EC2's: %v\n%s", err, body)
		}
	}
	return resp, nil
}

// element is any XML element.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

func checkModel(body []byte) error {
	m, err := readModel()
	if err != nil {
		return err
	}
	var root element
	if err := xml.Unmarshal(body, &root); err != nil {
		return err
	}
	operation := strings.TrimSuffix(root.XMLName.Local, "Response")
	output, ok := m.Operations[operation]
	if !ok {
		return fmt.Errorf("no operation %q", operation)
	}
	members := map[string]string{"requestId": "String"}
	if output == nil {
		members["return"] = "Boolean"
	} else {
		for name, s := range m.Shapes[*output].Members {
			members[name] = s
		}
	}
	return m.checkMembers(operation, root, members)
}

func (m *model) checkMembers(path string, e element, members map[string]string) error {
	seen := map[string]bool{}
	for _, c := range e.Children {
		name := c.XMLName.Local
		s, ok := members[name]
		if !ok {
			return fmt.Errorf("%s has no %s", path, name)
		}
		if seen[name] {
			return fmt.Errorf("%s has %s twice", path, name)
		}
		seen[name] = true
		if err := m.check(path+"."+name, c, m.Shapes[s]); err != nil {
			return err
		}
	}
	return nil
}

func (m *model) check(path string, e element, s shape) (err error) {
	text := strings.TrimSpace(e.Text)
	switch s.Type {
	case "structure":
		return m.checkMembers(path, e, s.Members)
	case "list":
		for _, c := range e.Children {
			if c.XMLName.Local != s.Item {
				return fmt.Errorf("%s: item is called %s, want %s", path, c.XMLName.Local, s.Item)
			}
			if err := m.check(path+"[]", c, m.Shapes[s.Member]); err != nil {
				return err
			}
		}
		return nil
	case "boolean":
		_, err = strconv.ParseBool(text)
	case "integer", "long":
		_, err = strconv.ParseInt(text, 10, 64)
	case "timestamp":
		_, err = time.Parse(time.RFC3339, text)
	case "string":
		if s.Enum != nil && !slices.Contains(s.Enum, text) {
			err = fmt.Errorf("%q is none of %v", text, s.Enum)
		}
	}
	if len(e.Children) > 0 {
		err = fmt.Errorf("elements inside a %s", s.Type)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
