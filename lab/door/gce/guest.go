package gce

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/antipode-bench/antipode/lab/door/fault"
)

// maxGuestQueries is how often a minute an instance's guest attributes may be
// read; beyond it a real machine may fail to write them.
const maxGuestQueries = 10

// guestAttributes are what the machine has told about itself.
type guestAttributes struct {
	items   []guestItem
	queries []time.Time // of the last minute
	warned  int         // the most in one minute, when too many
}

type guestItem struct {
	Namespace string `json:"namespace"`
	Key       string `json:"key"`
	Value     string `json:"value"`
}

type guestJSON struct {
	Kind      string      `json:"kind"`
	QueryPath string      `json:"queryPath,omitempty"`
	Variable  string      `json:"variableKey,omitempty"`
	Value     *guestValue `json:"queryValue,omitempty"`
	Text      string      `json:"variableValue,omitempty"`
	SelfLink  string      `json:"selfLink"`
}

type guestValue struct {
	Items []guestItem `json:"items"`
}

// publish is what the guest agent does with a host key at the first boot.
func (g *guestAttributes) publish(i *instance, line string) {
	if kind, key := hostKeyAttribute(line); kind != "" && isTrue(i.setting("enable-guest-attributes")) {
		g.items = append(g.items, guestItem{"hostkeys", kind, key})
	}
}

// count notes a query and says how many there were within a minute.
func (g *guestAttributes) count(now time.Time) int {
	g.queries = slices.DeleteFunc(append(g.queries, now), func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if n := len(g.queries); n > maxGuestQueries {
		g.warned = max(g.warned, n)
	}
	return len(g.queries)
}

func (g *guestAttributes) warning() []string {
	if g.warned == 0 {
		return nil
	}
	return []string{fmt.Sprintf("guest attributes were read %d times within a minute, at most %d are safe", g.warned, maxGuestQueries)}
}

func (q *request) getGuestAttributes() (any, error) {
	if q.door.faults.Forbids(fault.NoGuestAttributes) {
		return nil, q.violated(fault.NoGuestAttributes)
	}
	i, err := q.instance()
	if err != nil {
		return nil, err
	}
	i.guest.count(time.Now())
	path, variable := q.query.Get("queryPath"), q.query.Get("variableKey")
	if path == "" && variable == "" || path != "" && variable != "" {
		return nil, invalid("Exactly one of queryPath and variableKey must be given.")
	}
	namespace, key, _ := strings.Cut(path+variable, "/")
	var found []guestItem
	for _, item := range i.guest.items {
		if item.Namespace == namespace && (key == "" || key == item.Key) {
			found = append(found, item)
		}
	}
	if len(found) == 0 {
		return nil, &failure{http.StatusNotFound, "notFound", fmt.Sprintf(
			"The resource '%s' of type 'Guest Attribute' was not found.", path+variable)}
	}
	answer := &guestJSON{Kind: "compute#guestAttributes", QueryPath: path, Variable: variable, SelfLink: i.SelfLink + "/guestAttributes/" + path + variable}
	if variable != "" {
		answer.Text = found[0].Value
	} else {
		answer.Value = &guestValue{found}
	}
	return answer, nil
}
