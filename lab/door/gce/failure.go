package gce

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// failure is an error as the API answers it at once.
type failure struct {
	Status  int // HTTP
	Reason  string
	Message string
}

func (f *failure) Error() string { return f.Reason + ": " + f.Message }

func invalid(format string, args ...any) *failure {
	return &failure{http.StatusBadRequest, "invalid", fmt.Sprintf(format, args...)}
}

func invalidField(field string, value any, why string) *failure {
	return invalid("Invalid value for field '%s': '%v'. %s", field, value, why)
}

func required(field string) *failure {
	return &failure{http.StatusBadRequest, "required", fmt.Sprintf("Required field '%s' not specified", field)}
}

func notFound(resource string) *failure {
	return &failure{http.StatusNotFound, "notFound", fmt.Sprintf("The resource '%s' was not found", resource)}
}

func alreadyExists(resource string) *failure {
	return &failure{http.StatusConflict, "alreadyExists", fmt.Sprintf("The resource '%s' already exists", resource)}
}

func inUse(resource, by string) *failure {
	return &failure{http.StatusBadRequest, "resourceInUseByAnotherResource",
		fmt.Sprintf("The resource '%s' is already being used by '%s'", resource, by)}
}

func notReady(resource string) *failure {
	return &failure{http.StatusBadRequest, "resourceNotReady", fmt.Sprintf("The resource '%s' is not ready", resource)}
}

func (f *failure) write(w http.ResponseWriter) {
	type detail struct {
		Message string `json:"message"`
		Domain  string `json:"domain"`
		Reason  string `json:"reason"`
	}
	var body struct {
		Error struct {
			Code    int      `json:"code"`
			Message string   `json:"message"`
			Errors  []detail `json:"errors"`
		} `json:"error"`
	}
	body.Error.Code, body.Error.Message = f.Status, f.Message
	body.Error.Errors = []detail{{f.Message, "global", f.Reason}}
	out, _ := json.Marshal(body) // strings and numbers always can be
	writeJSON(w, f.Status, out)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller that hung up needs no answer
}

// flop is an error inside an operation, where the API puts what it finds out
// only after it has accepted a call.
type flop struct {
	Code          string
	Message       string
	StatusCode    int // HTTP
	StatusMessage string
}

// internalError is the flop of an error of the lab's own; none without an error.
func internalError(err error) *flop {
	if err == nil {
		return nil
	}
	return &flop{"INTERNAL_ERROR", "Internal error: " + err.Error(), http.StatusInternalServerError, "INTERNAL SERVER ERROR"}
}
