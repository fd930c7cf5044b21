package aws

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/model"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/providertest"
)

// policy is the document that docs/permissions.md shows.
type policy struct {
	Statement []statement
}

type statement struct {
	Sid, Effect string
	Action      words
	Resource    words
	Condition   map[string]map[string]words
}

// words are one or several in a policy.
type words []string

func (w *words) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*w = words{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(w))
}

func readPolicy(t *testing.T) policy {
	t.Helper()
	var p policy
	if err := json.Unmarshal(providertest.ReadManual(t).Block("json"), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// unneeded are calls that no policy has to name.
var unneeded = map[string]string{
	"sts:GetCallerIdentity": "needs no permission, and works even under a deny",
	"sts:AssumeRole":        "is for whoever assumes the role, which has the policy",
}

// heard fails the test when the policy would refuse a call.
func heard(t *testing.T) func(model.Call) {
	p := readPolicy(t)
	return func(c model.Call) {
		if err := p.allows(c); err != nil {
			t.Errorf("docs/permissions.md: %v", err)
		}
	}
}

func action(c model.Call) string { return c.Service + ":" + c.Name }

// allows says nil if the policy lets the call through, as far as that can be
// seen in the call itself: which tag an existing resource has can't.
func (p policy) allows(c model.Call) error {
	if unneeded[action(c)] != "" {
		return nil
	}
	named := false
	var taggable []string // what has to carry our tag
	for _, s := range p.Statement {
		if slices.Contains(s.Action, action(c)) {
			named = true
			taggable = append(taggable, s.tagged()...)
		}
	}
	if !named {
		return fmt.Errorf("no statement names %s", action(c))
	}
	if !c.Form.Has("InstanceMarketOptions.MarketType") { // no Spot request is made
		taggable = slices.DeleteFunc(taggable, func(kind string) bool { return kind == string(types.ResourceTypeSpotInstancesRequest) })
	}
	tagged := tagSpecifications(c.Form)
	slices.Sort(taggable)
	if !slices.Equal(taggable, tagged) {
		return fmt.Errorf("%s tags %v, the policy wants that of %v", c.Name, tagged, taggable)
	}
	if len(tagged) > 0 && !slices.Contains(p.creators(), c.Name) {
		return fmt.Errorf("ec2:CreateTags is not allowed to %s", c.Name)
	}
	return nil
}

var resourceType = regexp.MustCompile(`^arn:aws:ec2:\*:\*:([a-z-]+)/\*$`)

// tagged are the types of resources that the statement lets be made only with
// our tag.
func (s statement) tagged() []string {
	var list []string
	if slices.Equal(s.Condition["Null"]["aws:RequestTag/"+providers.TagRun], words{"false"}) {
		for _, arn := range s.Resource {
			list = append(list, resourceType.FindStringSubmatch(arn)[1])
		}
	}
	return list
}

// creators are the calls that may tag what they make.
func (p policy) creators() []string {
	for _, s := range p.Statement {
		if slices.Contains(s.Action, "ec2:CreateTags") {
			return s.Condition["StringEquals"]["ec2:CreateAction"]
		}
	}
	return nil
}

// tagSpecifications are the types of resources that a call gives our tag,
// sorted.
func tagSpecifications(form url.Values) []string {
	var list []string
	for key, value := range form {
		at, ok := strings.CutSuffix(key, ".ResourceType")
		if !ok {
			continue
		}
		for name, tag := range form {
			if strings.HasPrefix(name, at+".Tag.") && strings.HasSuffix(name, ".Key") && tag[0] == providers.TagRun {
				list = append(list, value[0])
			}
		}
	}
	slices.Sort(list)
	return list
}

// TestPermissions holds docs/permissions.md against the calls of a run's whole
// life, where there is a default VPC and where there is none: the table says
// which part makes them, and the policy has all of them and no others.
func TestPermissions(t *testing.T) {
	manual, p, ledger := providertest.ReadManual(t), readPolicy(t), &providertest.Ledger{}
	for _, faults := range []door.Faults{{}, {NoDefault: []string{ireland}}} {
		synctest.Test(t, func(t *testing.T) { live(t, faults, ledger) })
	}
	calls := ledger.Calls()
	if diff := gocmp.Diff(calls, manual.Rows(":")); diff != "" {
		t.Errorf("the table of docs/permissions.md (-calls +table):\n%s", diff)
	}
	maps.DeleteFunc(calls, func(call, _ string) bool { return unneeded[call] != "" })
	if diff := gocmp.Diff(slices.Sorted(maps.Keys(calls)), p.actions()); diff != "" {
		t.Errorf("the policy of docs/permissions.md (-calls +policy):\n%s", diff)
	}
}

// live leads a run through its life, which leaves a disk and a placement group to
// the teardown, and notes its calls.
func live(t *testing.T, faults door.Faults, ledger *providertest.Ledger) {
	diskStays := providertest.Rewrite("Ebs.DeleteOnTermination=true", "Ebs.DeleteOnTermination=false")
	w := openWorld(t, faults, diskStays)
	check := w.witness.Heard
	w.witness.Heard = func(c model.Call) {
		check(c)
		ledger.Note(action(c))
		if len(tagSpecifications(c.Form)) > 0 {
			ledger.Note("ec2:CreateTags")
		}
	}
	makePlacement(t, w, "r1")
	suite().Live(t, w.provider, ledger)
}

// actions are all that the policy allows, each once.
func (p policy) actions() []string {
	var list []string
	for _, s := range p.Statement {
		list = append(list, s.Action...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// asStranger lets calls be made by somebody whom the policy does not bind, until
// back is called.
func (w *world) asStranger() (back func()) {
	check := w.witness.Heard
	w.witness.Heard = nil
	return func() { w.witness.Heard = check }
}

// TestPolicyRefuses: the check of the calls can fail.
func TestPolicyRefuses(t *testing.T) {
	const tags = "&TagSpecification.1.ResourceType=key-pair&TagSpecification.1.Tag.1.Key=antipode-run&TagSpecification.1.Tag.1.Value=r1"
	for name, tt := range map[string]struct {
		call, form, want string
	}{
		"Allowed":   {"ImportKeyPair", "KeyName=k" + tags, ""},
		"Unnamed":   {"CreateImage", "", "no statement names"},
		"Untagged":  {"ImportKeyPair", "KeyName=k", "tags []"},
		"WrongTag":  {"ImportKeyPair", strings.ReplaceAll(tags, "antipode-run", "run"), "tags []"},
		"WrongType": {"ImportKeyPair", strings.ReplaceAll(tags, "key-pair", string(types.ResourceTypeVolume)), "tags [volume]"},
	} {
		t.Run(name, func(t *testing.T) {
			form, err := url.ParseQuery(tt.form)
			if err != nil {
				t.Fatal(err)
			}
			err = readPolicy(t).allows(model.Call{Service: "ec2", Name: tt.call, Form: form})
			if got := cmp.Or(err, errors.New("")).Error(); (err == nil) != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("allows = %v, want %q", err, tt.want)
			}
		})
	}
}
