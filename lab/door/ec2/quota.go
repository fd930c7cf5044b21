package ec2

import (
	"fmt"

	"github.com/antipode-bench/antipode/lab/door/fault"
)

// usualVCPUs is what an account may run in a region unless the lab's file says
// otherwise. All types of the catalog are of the families that it counts.
const usualVCPUs = 256

// vcpuLimit is how many vCPUs may run on demand.
func (r *region) vcpuLimit() int {
	return r.door.faults.Limit(fault.Place{Cloud: "aws", Region: r.name}, fault.StandardVCPUs, usualVCPUs)
}

// checkQuota refuses an order for more vCPUs than are left. Spot machines have
// a limit of their own, which the lab has not.
func (r *region) checkQuota(o *order) error {
	if o.in.Market != nil {
		return nil
	}
	used := 0
	for _, i := range r.instances {
		if i.state != terminated && i.state != stopped && i.spotRequest == "" {
			used += i.kind.vcpus
		}
	}
	limit := r.vcpuLimit()
	if used+o.count*o.kind.vcpus <= limit {
		return nil
	}
	return bad("VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of %d allows for "+
		"the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request "+
		"to request an adjustment to this limit.", limit)
}

type getServiceQuotaInput struct {
	ServiceCode, QuotaCode string
}

type serviceQuotaAnswer struct {
	Quota serviceQuota
}

type serviceQuota struct {
	Adjustable  bool
	GlobalQuota bool
	QuotaArn    string
	QuotaCode   string
	QuotaName   string
	ServiceCode string
	ServiceName string
	Unit        string
	Value       float64
}

// quotaKind is a quota as Service Quotas knows it.
type quotaKind struct {
	name, service, serviceName string
	limit                      func(*region) int
}

var quotaKinds = map[string]quotaKind{
	fault.StandardVCPUs: {"Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", "ec2",
		"Amazon Elastic Compute Cloud (Amazon EC2)", (*region).vcpuLimit},
	fault.VPCs: {"VPCs per Region", "vpc", "Amazon Virtual Private Cloud (Amazon VPC)", (*region).vpcLimit},
}

func (r *region) getServiceQuota(in *getServiceQuotaInput) (*serviceQuotaAnswer, error) {
	kind, known := quotaKinds[in.QuotaCode]
	if !known || in.ServiceCode != kind.service {
		return nil, bad("NoSuchResourceException", "The request failed because the specified service quota does not exist.")
	}
	return &serviceQuotaAnswer{serviceQuota{
		Adjustable: true,
		QuotaArn:   fmt.Sprintf("arn:%s:servicequotas:%s:%s:%s/%s", r.partition, r.name, Account, kind.service, in.QuotaCode),
		QuotaCode:  in.QuotaCode, QuotaName: kind.name,
		ServiceCode: kind.service, ServiceName: kind.serviceName, Unit: "None", Value: float64(kind.limit(r)),
	}}, nil
}
