package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// service is Amazon's model of one service, as far as it is checked.
type service struct {
	Metadata   metadata             `json:"metadata"`
	Operations map[string]operation `json:"operations"`
	Shapes     map[string]shape     `json:"shapes"`
}

type metadata struct {
	APIVersion   string `json:"apiVersion"`
	Name         string `json:"endpointPrefix"`
	Protocol     string `json:"protocol"` // ec2, query, json
	TargetPrefix string `json:"targetPrefix,omitzero"`
}

type operation struct {
	Input  member `json:"input,omitzero"`
	Output output `json:"output,omitzero"`
}

type output struct {
	Shape   string `json:"shape"`
	Wrapper string `json:"resultWrapper,omitzero"` // the element around it, in Query services but EC2
}

type shape struct {
	Type     string            `json:"type"`
	Members  map[string]member `json:"members,omitzero"`
	Required []string          `json:"required,omitzero"`
	Member   member            `json:"member,omitzero"` // of a list
	Value    member            `json:"value,omitzero"`  // of a map
	Enum     []string          `json:"enum,omitzero"`
	Min      *float64          `json:"min,omitzero"` // of a number, else of the length
	Max      *float64          `json:"max,omitzero"`
}

type member struct {
	Shape        string `json:"shape"`
	LocationName string `json:"locationName,omitzero"`
	QueryName    string `json:"queryName,omitzero"`
}

// services are the models by the name that signatures have for the service.
var services = sync.OnceValues(func() (map[string]*service, error) {
	all, err := read[service]("aws")
	byName := map[string]*service{}
	for _, s := range all {
		byName[s.Metadata.Name] = s
	}
	return byName, err
})

// awsCall is a call of an AWS service.
type awsCall struct {
	*service
	operation
	request *http.Request
	name    string
	form    url.Values // of the Query protocols
	body    []byte
}

// describeAWS reads the service from the credential scope of the signature,
// "AWS4-HMAC-SHA256 Credential=KEY/DATE/REGION/SERVICE/aws4_request, …".
func describeAWS(r *http.Request, authorization string, body []byte) (*awsCall, error) {
	_, scope, _ := strings.Cut(authorization, "Credential=")
	part := strings.Split(scope, "/")
	all, err := services()
	if err != nil {
		return nil, err
	}
	if len(part) < 5 || all[part[3]] == nil {
		return nil, fmt.Errorf("no service is known by the signature %q", authorization)
	}
	c := &awsCall{service: all[part[3]], request: r, body: body}
	if c.Metadata.Protocol == "json" {
		var prefix string
		prefix, c.name, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if prefix != c.Metadata.TargetPrefix {
			return nil, fmt.Errorf("target %q, want one of %s", prefix, c.Metadata.TargetPrefix)
		}
	} else {
		if c.form, err = url.ParseQuery(string(body)); err != nil {
			return nil, err
		}
		c.name = c.form.Get("Action")
	}
	var ok bool
	if c.operation, ok = c.Operations[c.name]; !ok {
		return nil, fmt.Errorf("%s has no call %q (or calls.txt has no line for it)", c.Metadata.Name, c.name)
	}
	return c, nil
}

func (c *awsCall) called() Call {
	return Call{Service: c.Metadata.Name, Name: c.name, Form: c.form}
}

func (c *awsCall) checkRequest() error {
	if c.request.Method != http.MethodPost || c.request.URL.Path != "/" || c.request.URL.RawQuery != "" {
		return fmt.Errorf("%s %s, want POST /", c.request.Method, c.request.URL.RequestURI())
	}
	input := c.Shapes[c.Input.Shape] // none: no members
	if c.Metadata.Protocol == "json" {
		if kind := c.request.Header.Get("Content-Type"); kind != "application/x-amz-json-1.1" {
			return fmt.Errorf("content type %q", kind)
		}
		n, err := jsonNode(c.body)
		if err != nil {
			return err
		}
		return reading{c.service, inJSON{}, true}.structure("", n, input)
	}
	if v := c.form.Get("Version"); v != c.Metadata.APIVersion {
		return fmt.Errorf("version %q, want %s", v, c.Metadata.APIVersion)
	}
	n, err := formNode(c.form)
	if err != nil {
		return err
	}
	n.drop("Action", "Version")
	var as notation = inQuery{}
	if c.Metadata.Protocol == "ec2" {
		as = inEC2Query{}
	}
	return reading{c.service, as, true}.structure("", n, input)
}

func (c *awsCall) checkAnswer(resp *http.Response, body []byte) error {
	switch good := resp.StatusCode == http.StatusOK; {
	case c.Metadata.Protocol == "json" && good:
		n, err := jsonNode(body)
		if err != nil {
			return err
		}
		return reading{c.service, inJSON{}, false}.structure("", n, c.Shapes[c.Output.Shape])
	case c.Metadata.Protocol == "json":
		return checkJSONFailure(body)
	case !good:
		return c.checkXMLFailure(body)
	}
	root, err := xmlNode(body)
	if err != nil {
		return err
	}
	if root.name != c.name+"Response" {
		return fmt.Errorf("the root is %s", root.name)
	}
	return reading{c.service, inXML{}, false}.structure("", root, c.envelope())
}

// The shapes of what every answer has besides its own members, which the models
// leave out.
const (
	anyText     = "\x00text"
	anyBoolean  = "\x00boolean"
	anyMetadata = "\x00metadata"
)

var envelopes = map[string]shape{
	anyText:     {Type: "string"},
	anyBoolean:  {Type: "boolean"},
	anyMetadata: {Type: "structure", Members: map[string]member{"RequestId": {Shape: anyText}}, Required: []string{"RequestId"}},
}

// envelope is the shape of a whole XML answer.
func (c *awsCall) envelope() shape {
	if c.Metadata.Protocol == "query" {
		s := shape{Type: "structure", Required: []string{"ResponseMetadata"},
			Members: map[string]member{"ResponseMetadata": {Shape: anyMetadata}}}
		if c.Output.Shape != "" {
			s.Members[c.Output.Wrapper] = member{Shape: c.Output.Shape}
			s.Required = append(s.Required, c.Output.Wrapper)
		}
		return s
	}
	out := c.Shapes[c.Output.Shape]
	s := shape{Type: "structure", Required: append([]string{"requestId"}, out.Required...),
		Members: map[string]member{"requestId": {Shape: anyText}}}
	if c.Output.Shape == "" {
		s.Members["return"] = member{Shape: anyBoolean}
	}
	maps.Copy(s.Members, out.Members)
	return s
}

var errNoCode = errors.New("an error without a code")

// checkXMLFailure looks at the frame that errors come in; which codes there are
// the models don't say.
func (c *awsCall) checkXMLFailure(body []byte) error {
	root, err := xmlNode(body)
	if err != nil {
		return err
	}
	frame, failure, id := "Response", root.at("Errors", "Error"), root.at("RequestID")
	if c.Metadata.Protocol == "query" {
		frame, failure, id = "ErrorResponse", root.at("Error"), root.at("RequestId")
	}
	switch {
	case root.name != frame:
		return fmt.Errorf("an error in %s, want %s", root.name, frame)
	case failure == nil || failure.at("Code") == nil || failure.at("Code").text == "":
		return errNoCode
	case failure.at("Message") == nil || id == nil:
		return errors.New("an error without a message or the request's id")
	}
	return nil
}

func checkJSONFailure(body []byte) error {
	var failure struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
		Capital string `json:"Message"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&failure); err != nil {
		return err
	}
	if failure.Type == "" {
		return errNoCode
	}
	return nil
}
