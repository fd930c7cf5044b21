package ec2

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

type callerIdentity struct {
	ARN       string `xml:"GetCallerIdentityResult>Arn"`
	UserID    string `xml:"GetCallerIdentityResult>UserId"`
	Account   string `xml:"GetCallerIdentityResult>Account"`
	RequestID string `xml:"ResponseMetadata>RequestId"`
}

func (c *callerIdentity) setRequest(id string) { c.RequestID = id }

func (r *region) getCallerIdentity(c *call, _ *struct{}) (*callerIdentity, error) {
	if s := c.session; s != nil {
		return &callerIdentity{ARN: s.arn, UserID: s.user, Account: Account}, nil
	}
	return &callerIdentity{
		ARN:     fmt.Sprintf("arn:%s:iam::%s:user/antipode", r.partition, Account),
		UserID:  "AIDALABLABLABLABLABLA",
		Account: Account,
	}, nil
}

// session is a role that somebody assumed, as long as it lasts.
type session struct {
	key, token string
	arn, user  string
	ends       time.Time
}

// sessions are those of all roles, by access key.
type sessions struct {
	mu  sync.Mutex
	all map[string]*session
}

func (s *sessions) add(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*session{}
	}
	s.all[one.key] = one
}

// temporary is how the access keys of sessions begin.
const temporary = "ASIA"

// of finds the session of a call; nil for one with lasting credentials.
func (s *sessions) of(key, token string, d dialect) (*session, error) {
	if !strings.HasPrefix(key, temporary) {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[key]
	switch {
	case one == nil || one.token != token:
		return nil, d.notOptedIn() // it says no more than that it does not know us
	case !time.Now().Before(one.ends):
		return nil, bad("RequestExpired", "Request has expired.")
	}
	return one, nil
}

type assumeRoleInput struct {
	RoleARN         string `form:"RoleArn,required"`
	RoleSessionName string `form:",required"`
	DurationSeconds int
}

type assumedRole struct {
	Key       string `xml:"AssumeRoleResult>Credentials>AccessKeyId"`
	Secret    string `xml:"AssumeRoleResult>Credentials>SecretAccessKey"`
	Token     string `xml:"AssumeRoleResult>Credentials>SessionToken"`
	Ends      string `xml:"AssumeRoleResult>Credentials>Expiration"`
	UserID    string `xml:"AssumeRoleResult>AssumedRoleUser>AssumedRoleId"`
	ARN       string `xml:"AssumeRoleResult>AssumedRoleUser>Arn"`
	RequestID string `xml:"ResponseMetadata>RequestId"`
}

func (a *assumedRole) setRequest(id string) { a.RequestID = id }

var (
	roleARN         = regexp.MustCompile(`^arn:aws[a-z-]*:iam::(\d{12}):role/(?:.*/)?([\w+=,.@-]{1,64})$`)
	roleSessionName = regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)
)

// assumeRole gives a session of a role. The lab's account has every role, each
// for an hour at most, as roles are made.
func (r *region) assumeRole(c *call, in *assumeRoleInput) (*assumedRole, error) {
	seconds := cmp.Or(in.DurationSeconds, 3600)
	match := roleARN.FindStringSubmatch(in.RoleARN)
	switch {
	case match == nil:
		return nil, bad("ValidationError", "%s is invalid", in.RoleARN)
	case !roleSessionName.MatchString(in.RoleSessionName):
		return nil, bad("ValidationError", "1 validation error detected: Value '%s' at 'roleSessionName' failed to satisfy constraint", in.RoleSessionName)
	case seconds < 900 || seconds > 3600:
		return nil, bad("ValidationError", "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
	case match[1] != Account:
		return nil, &failure{http.StatusForbidden, "AccessDenied", fmt.Sprintf(
			"User: arn:%s:iam::%s:user/antipode is not authorized to perform: sts:AssumeRole on resource: %s", r.partition, Account, in.RoleARN)}
	}
	id := fmt.Sprintf("%016X", c.door.rack.Uint64())
	s := &session{
		key: temporary + id, token: "lab-" + c.door.newID("session"),
		arn:  fmt.Sprintf("arn:%s:sts::%s:assumed-role/%s/%s", r.partition, Account, match[2], in.RoleSessionName),
		user: "AROA" + id + ":" + in.RoleSessionName, ends: time.Now().Add(time.Duration(seconds) * time.Second),
	}
	c.door.sessions.add(s)
	return &assumedRole{Key: s.key, Secret: "lab", Token: s.token, Ends: timestamp(s.ends), UserID: s.user, ARN: s.arn}, nil
}
