package aws

import (
	"context"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/providers"
)

// The quotas of a region, in vCPUs, of the families A, C, D, H, I, M, R, T and Z.
// Other families have others.
const (
	standardVCPUs = "L-1216C47A" // "Running On-Demand Standard instances"
	spotVCPUs     = "L-34B43A08" // "All Standard Spot Instance Requests"
)

var standard = regexp.MustCompile(`^([acdhimrtz]|im|is)\d`)

// quota finds how many vCPUs of the quota are left. A right that is missing for
// that leaves it unknown: the run doesn't need it.
func (s *survey) quota(ctx context.Context) error {
	if !standard.MatchString(s.found.MachineType) {
		return nil
	}
	quota := standardVCPUs
	if s.wanted.Spot {
		quota = spotVCPUs
	}
	vcpus := providers.Allowance{Name: "vCPUs (" + quota + ")"}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { vcpus.Machine, err = s.vcpusOf(ctx, s.found.MachineType); return err })
	g.Go(func() (err error) { vcpus.Limit, err = s.limit(ctx, "ec2", quota); return err })
	g.Go(func() (err error) { vcpus.Used, err = s.vcpusUsed(ctx, s.wanted.Spot); return err })
	err := g.Wait()
	if unasked(err) {
		return nil
	}
	if err != nil {
		return err
	}
	s.allow(vcpus)
	if vcpus.Room() == 0 {
		return s.skip("GetServiceQuota", "quota %v, and %s takes %g: Service Quotas takes requests for more",
			vcpus, s.found.MachineType, vcpus.Machine)
	}
	return nil
}

// unasked says that a quota can't be known, which is no reason not to try.
func unasked(err error) bool {
	return providers.KindOf(err) == providers.Auth || code(err) == "NoSuchResourceException"
}

func (s *survey) allow(a providers.Allowance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found.Allowances = append(s.found.Allowances, a)
}

func (r *region) limit(ctx context.Context, service, quota string) (float64, error) {
	out, err := ask(ctx, r, r.quotas.GetServiceQuota, &servicequotas.GetServiceQuotaInput{
		ServiceCode: aws.String(service), QuotaCode: aws.String(quota)})
	if err != nil {
		return 0, err
	}
	return aws.ToFloat64(out.Quota.Value), nil
}

func (r *region) vcpusOf(ctx context.Context, machineType string) (float64, error) {
	out, err := ask(ctx, r, r.ec2.DescribeInstanceTypes, &ec2.DescribeInstanceTypesInput{
		InstanceTypes: []types.InstanceType{types.InstanceType(machineType)}})
	if err != nil {
		return 0, err
	}
	if len(out.InstanceTypes) == 0 || out.InstanceTypes[0].VCpuInfo == nil {
		return 0, r.skip("DescribeInstanceTypes", "no answer for %s", machineType)
	}
	return float64(aws.ToInt32(out.InstanceTypes[0].VCpuInfo.DefaultVCpus)), nil
}

// vcpusUsed counts what is Spot, or what is not, of the families that the quotas
// count.
func (r *region) vcpusUsed(ctx context.Context, spot bool) (float64, error) {
	machines, err := r.instances(ctx, filter("instance-state-name", "pending", "running"))
	used := 0.0
	for _, m := range machines {
		if (m.InstanceLifecycle == types.InstanceLifecycleTypeSpot) == spot && m.CpuOptions != nil && standard.MatchString(string(m.InstanceType)) {
			used += float64(aws.ToInt32(m.CpuOptions.CoreCount) * aws.ToInt32(m.CpuOptions.ThreadsPerCore))
		}
	}
	return used, err
}

// offers says in which zones each machine type can be had.
func (r *region) offers(ctx context.Context, machineTypes []string) (map[string][]string, error) {
	offered := map[string][]string{}
	err := pages(func(from *string) (*string, error) {
		out, err := ask(ctx, r, r.ec2.DescribeInstanceTypeOfferings, &ec2.DescribeInstanceTypeOfferingsInput{
			LocationType: types.LocationTypeAvailabilityZone,
			Filters:      []types.Filter{filter("instance-type", machineTypes...)},
			NextToken:    from,
		})
		if err != nil {
			return nil, err
		}
		for _, o := range out.InstanceTypeOfferings {
			offered[string(o.InstanceType)] = append(offered[string(o.InstanceType)], aws.ToString(o.Location))
		}
		return out.NextToken, nil
	})
	if err == nil && len(offered) == 0 {
		err = r.skip("DescribeInstanceTypeOfferings", "no zone offers %s", alternatives(machineTypes))
	}
	return offered, err
}

// alternatives are machine types in words.
func alternatives(machineTypes []string) string { return strings.Join(machineTypes, " or ") }
