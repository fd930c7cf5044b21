package aws

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/antipode-bench/antipode/providers"
)

const (
	// sessionLength is the most that every role allows, also one that is assumed
	// by another role.
	sessionLength = time.Hour
	// sessionSpare is how long before its end a session is renewed: longer than
	// any call.
	sessionSpare = 5 * time.Minute
	// sessionName is what CloudTrail shows.
	sessionName = "antipode"
)

var roleARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]{1,575}$`)

// CheckRole says whether arn is the ARN of an IAM role.
func CheckRole(arn string) error {
	if !roleARN.MatchString(arn) {
		return fmt.Errorf("%.80q is not a role's ARN, such as arn:aws:iam::123456789012:role/NAME", arn)
	}
	return nil
}

// assume gives the credentials of a role to who has those of config, and new
// ones before they end. It makes the first call, whose error is an
// *providers.Error.
func assume(ctx context.Context, config aws.Config, caller *providers.Caller, arn string) (aws.CredentialsProvider, error) {
	home := home(arn)
	client := sts.NewFromConfig(config, func(o *sts.Options) { o.Region = home })
	role := stscreds.NewAssumeRoleProvider(client, arn, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName, o.Duration = sessionName, sessionLength
	})
	retrieve := func(ctx context.Context) (aws.Credentials, error) {
		return providers.Call(ctx, caller, home, "AssumeRole", func(ctx context.Context) (aws.Credentials, error) {
			creds, err := role.Retrieve(ctx)
			return creds, plain(err)
		})
	}
	cached := aws.NewCredentialsCache(aws.CredentialsProviderFunc(retrieve), func(o *aws.CredentialsCacheOptions) {
		o.ExpiryWindow = sessionSpare
	})
	_, err := cached.Retrieve(ctx)
	return cached, err
}
