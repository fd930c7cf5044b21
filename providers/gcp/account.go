package gcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/auth/httptransport"
	"google.golang.org/api/option"
)

// credentialsLimit is enough for the metadata server of a controller on GCE,
// and short enough elsewhere, where nobody answers at its address.
const credentialsLimit = 5 * time.Second

const scope = "https://www.googleapis.com/auth/cloud-platform"

// account is whose machines, and who asks.
type account struct {
	project string
	client  *http.Client
}

var errNoProject = errors.New("no project: set GOOGLE_CLOUD_PROJECT")

func openAccount(ctx context.Context, opts Options) (account, error) {
	acc := account{project: cmp.Or(opts.Project, os.Getenv("GOOGLE_CLOUD_PROJECT"))}
	switch {
	case opts.HTTPClient != nil:
		acc.client = opts.HTTPClient
	case opts.Endpoint != "":
		acc.client = &http.Client{}
	default:
		if err := acc.authenticate(ctx); err != nil {
			return acc, err
		}
	}
	if acc.project == "" {
		return acc, errNoProject
	}
	return acc, nil
}

// authenticate finds the application default credentials, and with them the
// project, if it isn't known.
func (a *account) authenticate(ctx context.Context) error {
	creds, err := detect(ctx)
	if err != nil {
		return fmt.Errorf("none found: run `gcloud auth application-default login`, or set "+
			"GOOGLE_APPLICATION_CREDENTIALS to a key file, and GOOGLE_CLOUD_PROJECT (--lab needs none): %w", err)
	}
	if a.project == "" {
		if a.project, err = creds.ProjectID(ctx); err != nil {
			return fmt.Errorf("%w: %w", errNoProject, err)
		}
	}
	a.client, err = httptransport.NewClient(&httptransport.Options{Credentials: creds})
	return err
}

// detect has no context in the library; what it waits for is the metadata
// server, and only where there are no other credentials.
func detect(ctx context.Context) (*auth.Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, credentialsLimit)
	defer cancel()
	type result struct {
		creds *auth.Credentials
		err   error
	}
	found := make(chan result, 1)
	go func() {
		creds, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{scope}})
		found <- result{creds, err}
	}()
	select {
	case r := <-found:
		return r.creds, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("looking for them: %w", ctx.Err())
	}
}

// connection is how the SDK's clients reach the API.
func (a account) connection(endpoint string) (*carrier, []option.ClientOption) {
	c := &carrier{next: cmp.Or(a.client.Transport, http.DefaultTransport)}
	client := *a.client
	client.Transport = c
	opts := []option.ClientOption{option.WithHTTPClient(&client)}
	if endpoint != "" {
		opts = append(opts, option.WithEndpoint(endpoint), option.WithoutAuthentication())
	}
	return c, opts
}
