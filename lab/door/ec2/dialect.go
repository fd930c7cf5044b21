package ec2

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"
)

// dialect is how a service words its answers.
type dialect interface {
	answer(w http.ResponseWriter, c *call, body any)
	fail(w http.ResponseWriter, c *call, f *failure)
	notOptedIn() *failure // what a region answers that the account has not enabled
}

func dialectFor(service string) dialect {
	switch service {
	case "ssm", "servicequotas":
		return jsonDialect{}
	case "sts":
		return stsDialect{}
	default:
		return ec2Dialect{}
	}
}

// fail answers with an error; one that is no failure is the door's own fault.
func (c *call) fail(w http.ResponseWriter, err error) {
	var f *failure
	if !errors.As(err, &f) {
		c.door.log.Error("aws door", "call", c.action, "err", err)
		f = &failure{http.StatusInternalServerError, "InternalError", err.Error()}
	}
	c.dialect.fail(w, c, f)
}

// requested is an answer that repeats the id of its request.
type requested interface{ setRequest(id string) }

// reply is embedded in every answer of EC2.
type reply struct {
	RequestID string `xml:"requestId"`
}

func (r *reply) setRequest(id string) { r.RequestID = id }

type ec2Dialect struct{}

const ec2Namespace = "http://ec2.amazonaws.com/doc/2016-11-15/"

func (ec2Dialect) answer(w http.ResponseWriter, c *call, body any) {
	body.(requested).setRequest(c.id)
	writeXML(w, http.StatusOK, c.action+"Response", ec2Namespace, body)
}

func (ec2Dialect) fail(w http.ResponseWriter, c *call, f *failure) {
	writeXML(w, f.Status, "Response", "", struct {
		Code      string `xml:"Errors>Error>Code"`
		Message   string `xml:"Errors>Error>Message"`
		RequestID string `xml:"RequestID"`
	}{f.Code, f.Message, c.id})
}

func (ec2Dialect) notOptedIn() *failure { return authFailure() }

type stsDialect struct{}

const stsNamespace = "https://sts.amazonaws.com/doc/2011-06-15/"

func (stsDialect) answer(w http.ResponseWriter, c *call, body any) {
	body.(requested).setRequest(c.id)
	writeXML(w, http.StatusOK, c.action+"Response", stsNamespace, body)
}

func (stsDialect) fail(w http.ResponseWriter, c *call, f *failure) {
	writeXML(w, f.Status, "ErrorResponse", stsNamespace, struct {
		Type      string `xml:"Error>Type"`
		Code      string `xml:"Error>Code"`
		Message   string `xml:"Error>Message"`
		RequestID string `xml:"RequestId"`
	}{"Sender", f.Code, f.Message, c.id})
}

func (stsDialect) notOptedIn() *failure {
	return &failure{http.StatusForbidden, "InvalidClientTokenId", "The security token included in the request is invalid"}
}

type jsonDialect struct{}

func (jsonDialect) answer(w http.ResponseWriter, c *call, body any) {
	writeJSON(w, http.StatusOK, c.id, body)
}

func (jsonDialect) fail(w http.ResponseWriter, c *call, f *failure) {
	writeJSON(w, f.Status, c.id, map[string]string{"__type": f.Code, "message": f.Message})
}

func (jsonDialect) notOptedIn() *failure {
	return bad("UnrecognizedClientException", "The security token included in the request is invalid.")
}

func writeXML(w http.ResponseWriter, status int, root, namespace string, body any) {
	start := xml.StartElement{Name: xml.Name{Local: root}}
	if namespace != "" {
		start.Attr = []xml.Attr{{Name: xml.Name{Local: "xmlns"}, Value: namespace}}
	}
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(xml.Header))
	_ = xml.NewEncoder(w).EncodeElement(body, start) // the caller hung up: nobody left to tell
}

func writeJSON(w http.ResponseWriter, status int, requestID string, body any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.Header().Set("X-Amzn-Requestid", requestID)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
