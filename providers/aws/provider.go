package aws

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/antipode-bench/antipode/providers"
)

const (
	// Cloud is the name of this cloud everywhere in the project.
	Cloud = "aws"
	// DefaultMachineType is the smallest current type with a 5 Gbit/s burst.
	DefaultMachineType = "t3.nano"
	// User is the login of Amazon Linux.
	User = "ec2-user"
)

// Options choose the account and the way to it. The zero value is the real AWS
// with the credentials every AWS tool would find.
type Options struct {
	Profile     string                  // of the shared configuration; empty: AWS_PROFILE or the default one
	Role        string                  // ARN of a role to assume with these credentials; empty: none
	Endpoint    string                  // of all services, all regions; empty: the real ones
	HTTPClient  *http.Client            // nil: the SDK's own
	Credentials aws.CredentialsProvider // nil: the SDK's default chain
	CallTimeout time.Duration           // of one try of one call; 0: providers.DefaultCallTimeout
	Log         *slog.Logger            // told of repeated calls; nil: silence
}

// Provider is a providers.Provider for one AWS account.
type Provider struct {
	config aws.Config
	caller *providers.Caller

	mu      sync.Mutex
	regions map[string]*region // made when first asked for
}

var _ providers.Provider = (*Provider)(nil)

// New finds the credentials, within seconds, and makes no call to AWS, unless a
// role is to be assumed. Its error says what to set.
func New(ctx context.Context, opts Options) (*Provider, error) {
	config, err := loadConfig(ctx, opts)
	if err != nil {
		return nil, &providers.Error{Op: "credentials", Cloud: Cloud, Kind: providers.Auth, Err: fmt.Errorf(
			"none found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (--lab needs none): %w", err)}
	}
	p := &Provider{
		config:  config,
		caller:  &providers.Caller{Cloud: Cloud, Classify: classify, Timeout: opts.CallTimeout, Log: opts.Log},
		regions: map[string]*region{},
	}
	if opts.Role != "" {
		p.config.Credentials, err = assume(ctx, config, p.caller, opts.Role)
	}
	if err != nil {
		return nil, providers.Wrap(Cloud, "", "AssumeRole", err)
	}
	return p, nil
}

// Cloud is "aws".
func (p *Provider) Cloud() string { return Cloud }

// region is one region's clients.
type region struct {
	name   string
	caller *providers.Caller
	ec2    *ec2.Client
	ssm    *ssm.Client
	quotas *servicequotas.Client
	sts    *sts.Client // of the partition's home region

	admitting sync.Mutex       // Admit reads groups and fills them up: one at a time
	doubts    providers.Doubts // by run id
}

func (p *Provider) region(name string) *region {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.regions[name]; r != nil {
		return r
	}
	r := &region{
		name:   name,
		caller: p.caller,
		ec2:    ec2.NewFromConfig(p.config, func(o *ec2.Options) { o.Region = name }),
		ssm:    ssm.NewFromConfig(p.config, func(o *ssm.Options) { o.Region = name }),
		quotas: servicequotas.NewFromConfig(p.config, func(o *servicequotas.Options) { o.Region = name }),
		sts:    sts.NewFromConfig(p.config, func(o *sts.Options) { o.Region = home(name) }),
	}
	p.regions[name] = r
	return r
}

// partitions are those of AWS besides the commercial one: the region that every
// account has enabled, and how the names of regions, and ARNs, begin.
var partitions = []struct{ home, regions, arns string }{
	{"cn-north-1", "cn-", "arn:aws-cn:"},
	{"us-gov-west-1", "us-gov-", "arn:aws-us-gov:"},
	{"eusc-de-east-1", "eusc-", "arn:aws-eusc:"},
}

// home is the region that every account has enabled, in the partition of a
// region or of an ARN.
func home(of string) string {
	for _, p := range partitions {
		if strings.HasPrefix(of, p.regions) || strings.HasPrefix(of, p.arns) {
			return p.home
		}
	}
	return "us-east-1"
}

// ask makes one call of one of the SDK's clients.
func ask[In, Out, Opt any](ctx context.Context, r *region,
	method func(context.Context, *In, ...func(*Opt)) (*Out, error), in *In) (*Out, error) {
	out, err := providers.Call(ctx, r.caller, r.name, operation(in), func(ctx context.Context) (*Out, error) {
		out, err := method(ctx, in)
		return out, plain(err)
	})
	if err != nil {
		return nil, r.clarify(ctx, err)
	}
	return out, nil
}

// operation is the API's name of a call, read off the type of its input.
func operation(in any) string {
	_, name, _ := strings.Cut(fmt.Sprintf("%T", in), ".")
	return strings.TrimSuffix(name, "Input")
}
