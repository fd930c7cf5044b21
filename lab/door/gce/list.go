package gce

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
)

// listJSON is an answer with a page of resources.
type listJSON struct {
	Kind     string            `json:"kind"`
	ID       string            `json:"id"`
	Items    []json.RawMessage `json:"items,omitempty"`
	Next     string            `json:"nextPageToken,omitempty"`
	SelfLink string            `json:"selfLink"`
}

// aggregateJSON is an answer with a page of resources by scope.
type aggregateJSON struct {
	Kind     string         `json:"kind"`
	ID       string         `json:"id"`
	Items    map[string]any `json:"items"`
	Next     string         `json:"nextPageToken,omitempty"`
	SelfLink string         `json:"selfLink"`
}

type warningJSON struct {
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Data    []warningData `json:"data"`
}

type warningData struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// entry is one resource of a list.
type entry struct {
	scope string // "zones/us-east1-b"
	value any
}

const (
	defaultPage = 500
	maxPage     = 500
)

// list answers with the entries that pass the caller's filter, in the order given.
func (q *request) list(kind string, entries []entry) (any, error) {
	page, next, err := q.page(entries)
	if err != nil {
		return nil, err
	}
	answer := &listJSON{Kind: "compute#" + kind, ID: strings.TrimPrefix(q.URL.Path, "/compute/v1/"), Next: next, SelfLink: host + q.URL.Path[1:]}
	for _, e := range page {
		answer.Items = append(answer.Items, e.value.(json.RawMessage))
	}
	return answer, nil
}

// aggregate answers with all scopes, those without a result marked so.
func (q *request) aggregate(kind, collection string, scopes []string, entries []entry) (any, error) {
	page, next, err := q.page(entries)
	if err != nil {
		return nil, err
	}
	found := map[string][]any{}
	for _, e := range page {
		found[e.scope] = append(found[e.scope], e.value)
	}
	answer := &aggregateJSON{
		Kind: "compute#" + kind, ID: strings.TrimPrefix(q.URL.Path, "/compute/v1/"), Items: map[string]any{}, Next: next, SelfLink: host + q.URL.Path[1:],
	}
	for _, scope := range scopes {
		if items := found[scope]; items != nil {
			answer.Items[scope] = map[string]any{collection: items}
			continue
		}
		answer.Items[scope] = map[string]any{"warning": warningJSON{
			"NO_RESULTS_ON_PAGE", "There are no results for scope '" + scope + "' on this page.", []warningData{{"scope", scope}},
		}}
	}
	return answer, nil
}

// page filters and cuts. The entries come back as JSON.
func (q *request) page(entries []entry) ([]entry, string, error) {
	filter, err := parseFilter(q.query.Get("filter"))
	if err != nil {
		return nil, "", err
	}
	from, limit, err := q.window()
	if err != nil {
		return nil, "", err
	}
	var passed []entry
	for _, e := range entries {
		raw, err := json.Marshal(e.value)
		if err != nil {
			return nil, "", err
		}
		ok, err := filter.passes(raw)
		if err != nil {
			return nil, "", err
		}
		if ok {
			passed = append(passed, entry{e.scope, json.RawMessage(raw)})
		}
	}
	from = min(from, len(passed))
	to := min(from+limit, len(passed))
	if to < len(passed) {
		return passed[from:to], base64.RawURLEncoding.EncodeToString([]byte(tokenPrefix + strconv.Itoa(to))), nil
	}
	return passed[from:to], "", nil
}

const tokenPrefix = "from:"

func (q *request) window() (from, limit int, err error) {
	limit = defaultPage
	if s := q.query.Get("maxResults"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return 0, 0, invalidField("maxResults", s, "Values must be within the range: [0, 500]")
		}
		limit = min(n, maxPage)
		if n == 0 {
			limit = defaultPage
		}
	}
	token := q.query.Get("pageToken")
	if token == "" {
		return 0, limit, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	text, ok := strings.CutPrefix(string(raw), tokenPrefix)
	from, convErr := strconv.Atoi(text)
	if err != nil || !ok || convErr != nil || from < 0 {
		return 0, 0, invalidField("pageToken", token, "The page token is malformed.")
	}
	return from, limit, nil
}
