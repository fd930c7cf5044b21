package ec2

import (
	"fmt"
	"net/http"
)

// failure is an error as the API answers it.
type failure struct {
	Status  int // HTTP
	Code    string
	Message string
}

func (f *failure) Error() string { return f.Code + ": " + f.Message }

// bad is a failure the caller is to blame for.
func bad(code, format string, args ...any) *failure {
	return &failure{http.StatusBadRequest, code, fmt.Sprintf(format, args...)}
}

func invalidValue(name string, value any) *failure {
	return bad("InvalidParameterValue", "Value (%v) for parameter %s is invalid.", value, name)
}

func missing(name string) *failure {
	return bad("MissingParameter", "The request must contain the parameter %s", name)
}

func badCombination(format string, args ...any) *failure {
	return bad("InvalidParameterCombination", format, args...)
}
