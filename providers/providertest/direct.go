package providertest

import (
	"io"
	"net/http"
	"net/http/httptest"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Direct carries requests to a handler without a network, so that they can be
// made inside a synctest bubble.
func Direct(handler http.Handler) http.RoundTripper {
	return roundTripper(func(r *http.Request) (resp *http.Response, err error) {
		defer func() {
			if recover() == http.ErrAbortHandler {
				resp, err = nil, io.ErrUnexpectedEOF // the server cut the connection
			}
		}()
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		if r.Body == nil {
			r.Body = http.NoBody
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Result(), nil
	})
}
