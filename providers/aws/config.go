package aws

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go/logging"
)

// credentialsLimit is enough for the metadata service of an EC2 controller, and
// short enough elsewhere, where nobody answers at its address.
const credentialsLimit = 5 * time.Second

// loadConfig reads the user's environment and files, unless the options say
// everything themselves: then neither can spoil it.
func loadConfig(ctx context.Context, opts Options) (aws.Config, error) {
	ctx, cancel := context.WithTimeout(ctx, credentialsLimit)
	defer cancel()
	var cfg aws.Config
	var err error
	if opts.Endpoint != "" && opts.Credentials != nil {
		cfg.Credentials = opts.Credentials
	} else if cfg, err = config.LoadDefaultConfig(ctx, loadOptions(opts)...); err != nil {
		return cfg, err
	}
	// Set here, not among the options: they refuse a client of ours when
	// AWS_CA_BUNDLE is set.
	if opts.HTTPClient != nil {
		cfg.HTTPClient = opts.HTTPClient
	}
	if opts.Endpoint != "" {
		cfg.BaseEndpoint = aws.String(opts.Endpoint)
	}
	// Our own wrapper tries again; the SDK would repeat "no capacity" in a full
	// zone, because it comes with a server error's status.
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	_, err = cfg.Credentials.Retrieve(ctx)
	return cfg, err
}

func loadOptions(opts Options) []func(*config.LoadOptions) error {
	chosen := []func(*config.LoadOptions) error{config.WithDefaultRegion(home("")), config.WithLogger(sdkLog(opts.Log))}
	if opts.Profile != "" {
		chosen = append(chosen, config.WithSharedConfigProfile(opts.Profile))
	}
	if opts.Credentials != nil {
		chosen = append(chosen, config.WithCredentialsProvider(opts.Credentials))
	}
	if opts.Endpoint != "" {
		chosen = append(chosen, config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	}
	return chosen
}

// sdkLog takes what the SDK would write on standard error, in the middle of
// ours, to the log.
func sdkLog(log *slog.Logger) logging.Logger {
	return logging.LoggerFunc(func(kind logging.Classification, format string, args ...any) {
		if log != nil {
			log.Debug("AWS SDK", "kind", string(kind), "text", fmt.Sprintf(format, args...))
		}
	})
}
