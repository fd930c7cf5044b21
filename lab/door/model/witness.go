package model

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
)

// Call is one request as its model names it.
type Call struct {
	Service string     // "ec2", "ssm", "sts", "servicequotas", "compute", "cloudresourcemanager"
	Name    string     // "RunInstances", "instances.insert"
	Form    url.Values // of the Query services
}

func (c Call) String() string { return c.Service + " " + c.Name }

// Witness is an http.RoundTripper that checks what goes through it, in either
// direction, and changes nothing. Safe for concurrent use if Next, Object and
// Heard are.
type Witness struct {
	Next   http.RoundTripper
	Object func(error) // told of everything that is not as the models say
	Heard  func(Call)  // told of every call before it is made; may be nil
}

// Watch returns a witness that fails the test.
func Watch(t testing.TB, next http.RoundTripper) *Witness {
	return &Witness{Next: next, Object: func(err error) { t.Errorf("not the cloud's API: %v", err) }}
}

// described is one call of a model: the rules for its request and its answer.
type described interface {
	called() Call
	checkRequest() error
	checkAnswer(resp *http.Response, body []byte) error
}

// RoundTrip implements http.RoundTripper.
func (w *Witness) RoundTrip(r *http.Request) (*http.Response, error) {
	r, sent, err := withBody(r)
	if err != nil {
		return nil, err
	}
	call, err := describe(r, sent)
	if err != nil {
		w.Object(fmt.Errorf("%s %s: %w\n%s", r.Method, r.URL, err, sent))
		return w.Next.RoundTrip(r)
	}
	if w.Heard != nil {
		w.Heard(call.called())
	}
	if err := call.checkRequest(); err != nil {
		w.Object(fmt.Errorf("request %s: %w\n%s %s\n%s", call.called(), err, r.Method, r.URL, sent))
	}
	resp, err := w.Next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err := call.checkAnswer(resp, body); err != nil {
		w.Object(fmt.Errorf("answer to %s: %w\n%s\n%s", call.called(), err, resp.Status, body))
	}
	return resp, nil
}

// withBody reads a request's body and returns a copy that has it still.
func withBody(r *http.Request) (*http.Request, []byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, nil, nil
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r, body, nil
}

// describe finds a request's model: AWS's requests are signed, Google's are not.
func describe(r *http.Request, body []byte) (described, error) {
	if scope := r.Header.Get("Authorization"); scope != "" {
		return describeAWS(r, scope, body)
	}
	return describeGoogle(r, body)
}
