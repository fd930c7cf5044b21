package gcp

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/antipode-bench/antipode/providers"
)

const hostKeyType = "ssh-ed25519"

// minLife is the shortest maxRunDuration the API takes.
const minLife = 30 * time.Second

// instance is the machine as it is asked for: it deletes itself, with its disk,
// when the run has expired, and only the run's key opens it.
func (p *Provider) instance(spec providers.Spec, zone, subnet, name string) *computepb.Instance {
	n, _ := p.networkOf(spec.Run.ID)
	life := max(time.Until(spec.Run.Expires), minLife)
	wanted := &computepb.Instance{
		Name:        &name,
		Description: new(description(spec.Run)),
		MachineType: new(fmt.Sprintf("zones/%s/machineTypes/%s", zone, spec.MachineType)),
		Labels:      labels(spec.Run),
		Tags:        &computepb.Tags{Items: []string{providers.Name(spec.Run.ID), name}},
		Metadata:    metadata(spec),
		Disks: []*computepb.AttachedDisk{{
			Boot:       new(true),
			AutoDelete: new(true),
			InitializeParams: &computepb.AttachedDiskInitializeParams{
				SourceImage: new(image(spec.MachineType)),
				DiskType:    new(fmt.Sprintf("zones/%s/diskTypes/%s", zone, diskType(spec.MachineType))),
				Labels:      labels(spec.Run), // a disk does not inherit the instance's
			},
		}},
		NetworkInterfaces: []*computepb.NetworkInterface{{
			Network:    new(n.url()),
			Subnetwork: &subnet,
			AccessConfigs: []*computepb.AccessConfig{{
				Name: new("External NAT"), Type: new("ONE_TO_ONE_NAT"), NetworkTier: new(tier(spec)),
			}},
		}},
		Scheduling: &computepb.Scheduling{
			MaxRunDuration:            &computepb.Duration{Seconds: new(int64(life / time.Second))},
			InstanceTerminationAction: new("DELETE"), // also of a spot machine that is taken away
			ProvisioningModel:         new(provisioning(spec.Spot)),
		},
	}
	askIPv6(wanted.NetworkInterfaces[0], spec.IPv6)
	return wanted
}

func tier(spec providers.Spec) string {
	return strings.ToUpper(cmp.Or(spec.NetworkTier, providers.PremiumTier))
}

const spotModel = "SPOT"

func provisioning(spot bool) string {
	if spot {
		return spotModel
	}
	return "STANDARD"
}

func metadata(spec providers.Spec) *computepb.Metadata {
	var items []*computepb.Items
	for _, item := range [][2]string{
		{"ssh-keys", User + ":" + spec.AuthorizedKey},
		{"enable-oslogin", "FALSE"},         // it would remove the key again
		{"block-project-ssh-keys", "TRUE"},  // nobody else's keys
		{"enable-guest-attributes", "TRUE"}, // or the host key is never told
	} {
		items = append(items, &computepb.Items{Key: &item[0], Value: &item[1]})
	}
	return &computepb.Metadata{Items: items}
}

var (
	arm       = regexp.MustCompile(`^(t2a|[a-z]\d+a|a4x)-`) // c4a, n4a; t2d and n2d are x86
	hyperdisk = regexp.MustCompile(`^([cn]4[ad]?|m4|x4|h4d|a4x?)-`)
)

// imageProject is Google's, of the Debian images.
const imageProject = "debian-cloud"

// image is the family of the image, whose newest member is taken.
func image(machineType string) string {
	family := "debian-12"
	if arm.MatchString(machineType) {
		family += "-arm64"
	}
	return "projects/" + imageProject + "/global/images/family/" + family
}

// diskType is the cheapest a machine type can boot from: the newer families
// take nothing but Hyperdisk.
func diskType(machineType string) string {
	if hyperdisk.MatchString(machineType) {
		return "hyperdisk-balanced"
	}
	return "pd-standard"
}
