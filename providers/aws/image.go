package aws

import (
	"context"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/antipode-bench/antipode/providers"
)

// imageParameter is the public parameter Amazon keeps the newest Amazon Linux
// 2023 image of a region under.
const imageParameter = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-"

// rootDevice is where those images have their root disk.
const rootDevice = "/dev/xvda"

// images looks up an image for each architecture of the machine types.
func (r *region) images(ctx context.Context, machineTypes []string) (map[string]string, error) {
	images := map[string]string{}
	for _, machineType := range machineTypes {
		arch := architecture(machineType)
		if images[arch] != "" {
			continue
		}
		var err error
		if images[arch], err = r.image(ctx, machineType); err != nil {
			return nil, err
		}
	}
	return images, nil
}

// image looks the region's newest image up.
func (r *region) image(ctx context.Context, machineType string) (string, error) {
	out, err := ask(ctx, r, r.ssm.GetParameter, &ssm.GetParameterInput{
		Name: aws.String(imageParameter + architecture(machineType)),
	})
	if providers.KindOf(err) == providers.NotFound {
		return "", r.skip("GetParameter", "no Amazon Linux 2023 image here: %w", err)
	}
	if err != nil {
		return "", err
	}
	return aws.ToString(out.Parameter.Value), nil
}

// graviton matches the machine types with Arm processors: a "g" right after the
// generation (t4g, c7gn, im4gn, x8g), and a1.
var graviton = regexp.MustCompile(`^(a1|[a-z-]+\d+g[a-z]*)\.`)

// architecture is Amazon's word for a machine type's processor.
func architecture(machineType string) string {
	if graviton.MatchString(machineType) {
		return "arm64"
	}
	return "x86_64"
}

var burstable = regexp.MustCompile(`^t\d`)

// credits asks for unlimited CPU credits on the types that have them. In
// standard mode a T3 starts with none and is held to its baseline (5 % of a
// core on t3.nano): the probe would measure that. Surplus credits cost $0.05
// per core and hour, so at most a few cents for a run.
func credits(machineType string) *types.CreditSpecificationRequest {
	if !burstable.MatchString(machineType) {
		return nil
	}
	return &types.CreditSpecificationRequest{CpuCredits: aws.String("unlimited")}
}
