package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/providers"
)

var _ providers.Preflighter = (*Provider)(nil)

// Preflight asks who we are and which regions are ours, and then every region
// what a launch in it would meet.
func (p *Provider) Preflight(ctx context.Context, w providers.Wanted) providers.Preflight {
	answer := providers.Preflight{Cloud: Cloud, Regions: make([]providers.RegionPreflight, len(w.Regions))}
	accounts := p.accounts(ctx, w.Regions)
	var g errgroup.Group
	g.SetLimit(regionsAtOnce)
	for i, name := range w.Regions {
		answer.Regions[i].Region = name
		g.Go(func() error {
			if closed, ok := accounts[home(name)].closed(name); ok {
				answer.Regions[i].Findings = []providers.Finding{closed}
				return nil
			}
			s := survey{region: p.region(name), wanted: w, found: &answer.Regions[i]}
			s.run(ctx)
			return nil
		})
	}
	_ = g.Wait() // errors are findings
	answer.Account, answer.Findings = sumUp(accounts)
	return answer
}

// account is what the home region of a partition says of us.
type account struct {
	number string
	status map[string]string // opt-in status by region; nil if it could not be asked
	err    error             // why we are nobody there
}

// accounts asks each partition of the regions; one that credentials are good
// for knows nothing of another's.
func (p *Provider) accounts(ctx context.Context, regions []string) map[string]account {
	found := map[string]account{}
	var mu sync.Mutex
	var g errgroup.Group
	for _, name := range regions {
		found[home(name)] = account{}
	}
	for _, name := range slices.Collect(maps.Keys(found)) { // the map is written to meanwhile
		g.Go(func() error {
			a := p.region(name).account(ctx)
			mu.Lock()
			defer mu.Unlock()
			found[name] = a
			return nil
		})
	}
	_ = g.Wait() // the errors are the accounts'
	return found
}

// accountPatience leaves time to ask the regions, whatever the account says.
const accountPatience = 10 * time.Second

func (r *region) account(ctx context.Context) account {
	ctx, cancel := context.WithTimeout(ctx, accountPatience)
	defer cancel()
	out, err := ask(ctx, r, r.sts.GetCallerIdentity, &sts.GetCallerIdentityInput{})
	if err != nil {
		return account{err: err}
	}
	a := account{number: aws.ToString(out.Account)}
	all, err := ask(ctx, r, r.ec2.DescribeRegions, &ec2.DescribeRegionsInput{AllRegions: aws.Bool(true)})
	if err != nil {
		return a // each region says by itself whether it is ours
	}
	a.status = map[string]string{}
	for _, known := range all.Regions {
		a.status[aws.ToString(known.RegionName)] = aws.ToString(known.OptInStatus)
	}
	return a
}

// sumUp is the account's part of the answer. Only when no partition knows us
// is everything refused.
func sumUp(accounts map[string]account) (number string, findings []providers.Finding) {
	var errs []error
	for _, a := range accounts {
		if a.err == nil {
			number = a.number
		}
		errs = append(errs, a.err)
	}
	if number == "" && len(errs) > 0 {
		findings = append(findings, providers.Found(providers.VerdictRefuse, errors.Join(errs...)))
	}
	return number, findings
}

// closed says why a region is not for us, if the account knows.
func (a account) closed(region string) (providers.Finding, bool) {
	if providers.KindOf(a.err) == providers.Auth {
		return providers.Found(providers.VerdictSkip, a.err), true
	}
	status, known := a.status[region]
	reason := ""
	switch {
	case a.status == nil:
		return providers.Finding{}, false
	case !known:
		reason = "AWS has no such region for this account"
	case status == notOptedIn:
		reason = fmt.Sprintf("the account has not enabled this region: `aws account enable-region --region-name %s` does that, within hours", region)
	}
	return providers.Finding{Verdict: providers.VerdictSkip, Reason: reason}, reason != ""
}

const notOptedIn = "not-opted-in"
