package aws

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/providers"
)

// tagRules are EC2's for a user's tags: 50 on a resource, of which we take
// three, and letters, digits, spaces and a few signs in all languages.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions
var tagRules = providers.TagRules{
	Word:     "AWS tag",
	Key:      regexp.MustCompile(`^[\pL\pN\pZ+\-=._:/@]{1,128}$`),
	Value:    regexp.MustCompile(`^[\pL\pN\pZ+\-=._:/@]{0,256}$`),
	Most:     50 - len(ours(providers.Run{})),
	Reserved: []string{"Name", "aws:"},
	Says:     "letters, digits, spaces and _.:/=+-@, at most 128 in the key and 256 in the value",
}

// CheckTags says whether EC2 takes a user's tags.
func CheckTags(tags map[string]string) error { return tagRules.Check(tags) }

// ours are the tags that a run is found by.
func ours(run providers.Run) []types.Tag {
	return []types.Tag{
		{Key: aws.String("Name"), Value: aws.String(providers.Name(run.ID))},
		{Key: aws.String(providers.TagRun), Value: aws.String(run.ID)},
		{Key: aws.String(providers.TagExpires), Value: aws.String(run.Expires.UTC().Format(time.RFC3339))},
	}
}

// tagged marks each kind of resource a create makes; one not named is made
// without tags, and never found again.
func tagged(run providers.Run, kinds ...types.ResourceType) []types.TagSpecification {
	tags := ours(run)
	for _, key := range slices.Sorted(maps.Keys(run.Tags)) {
		tags = append(tags, types.Tag{Key: aws.String(key), Value: aws.String(run.Tags[key])})
	}
	var specs []types.TagSpecification
	for _, kind := range kinds {
		specs = append(specs, types.TagSpecification{ResourceType: kind, Tags: tags})
	}
	return specs
}

func tag(tags []types.Tag, key string) string {
	for _, t := range tags {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}

// expiry is zero where the tag is missing or was changed by hand.
func expiry(tags []types.Tag) time.Time {
	at, err := time.Parse(time.RFC3339, tag(tags, providers.TagExpires))
	if err != nil {
		return time.Time{}
	}
	return at
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}

// ofRun selects what carries both tags of the run, or of any run if runID is
// empty. One alone may be somebody else's word for something else.
func ofRun(runID string, more ...types.Filter) []types.Filter {
	run := filter("tag:"+providers.TagRun, runID)
	if runID == "" {
		run = filter("tag-key", providers.TagRun)
	}
	return append([]types.Filter{run, filter("tag-key", providers.TagExpires)}, more...)
}
