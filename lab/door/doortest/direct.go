package doortest

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Silence is a log that nobody reads.
var Silence = slog.New(slog.DiscardHandler)

// Direct carries requests to a handler without a network, so that they can be
// made inside a synctest bubble.
func Direct(handler http.Handler) http.RoundTripper {
	return roundTripper(func(r *http.Request) (resp *http.Response, err error) {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				resp, err = nil, io.ErrUnexpectedEOF // the server cut the connection
			default:
				panic(p)
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
