package aws

import (
	"context"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/antipode-bench/antipode/providers"
)

// vpcQuota is of Service Quotas' service "vpc": "VPCs per Region".
const vpcQuota = "L-F678F1CE"

// withoutVPC asks whether a VPC may be made, beside so many others, and says that
// one will be if nothing is known against it. What is going to be in it needs its
// id, and can't be rehearsed.
func (s *survey) withoutVPC(ctx context.Context, others int) {
	s.own = true
	var against atomic.Bool
	noting := func(ask func(context.Context) error) func() error {
		return func() error {
			err := ask(ctx)
			if err != nil {
				against.Store(true)
			}
			return err
		}
	}
	s.together(noting(s.mayCreateVPC), noting(s.mayCreateGateway),
		noting(func(ctx context.Context) error { return s.roomForVPC(ctx, others) }))
	if !against.Load() {
		s.note(providers.Finding{Verdict: providers.VerdictWarn,
			Reason: "no default VPC: the run makes one, free of charge, and removes it at its end (--network names another)"})
	}
}

func (s *survey) mayCreateVPC(ctx context.Context) error {
	in := vpcInput(rehearsal, s.wanted.IPv6)
	in.DryRun = aws.Bool(true)
	_, err := ask(ctx, s.region, s.ec2.CreateVpc, in)
	return dry(err)
}

func (s *survey) mayCreateGateway(ctx context.Context) error {
	in := gatewayInput(rehearsal)
	in.DryRun = aws.Bool(true)
	_, err := ask(ctx, s.region, s.ec2.CreateInternetGateway, in)
	return dry(err)
}

// roomForVPC: a region has five VPCs at most unless more were asked for.
func (s *survey) roomForVPC(ctx context.Context, others int) error {
	limit, err := s.limit(ctx, "vpc", vpcQuota)
	if unasked(err) {
		return nil
	}
	if err != nil {
		return err
	}
	vpcs := providers.Allowance{Name: "VPCs (" + vpcQuota + ")", Limit: limit, Used: float64(others), Machine: 1}
	s.allow(vpcs)
	if vpcs.Room() == 0 {
		return s.skip("GetServiceQuota", "no default VPC, and quota %v: delete one, name one (--network), or ask Service Quotas for more", vpcs)
	}
	return nil
}
