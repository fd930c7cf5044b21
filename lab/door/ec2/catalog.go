package ec2

import (
	"fmt"
	"slices"
	"strings"
)

// machineType is one instance type that the lab offers, in every zone.
type machineType struct {
	name      string
	vcpus     int
	memoryMiB int
	arch      string
	network   string // as AWS words it
}

func (t machineType) burstable() bool { return strings.HasPrefix(t.name, "t") }

// cpu is the type's vCPUs by cores: Arm's have one thread each.
func (t machineType) cpu() cpuInfo {
	if t.arch == arm {
		return cpuInfo{t.vcpus, 1}
	}
	return cpuInfo{t.vcpus / 2, 2}
}

const (
	x86 = "x86_64"
	arm = "arm64"
)

var machineTypes = []machineType{
	{"t3.nano", 2, 512, x86, "Up to 5 Gigabit"},
	{"t3.micro", 2, 1024, x86, "Up to 5 Gigabit"},
	{"t3.small", 2, 2048, x86, "Up to 5 Gigabit"},
	{"t3.medium", 2, 4096, x86, "Up to 5 Gigabit"},
	{"t3.large", 2, 8192, x86, "Up to 5 Gigabit"},
	{"t3a.nano", 2, 512, x86, "Up to 5 Gigabit"},
	{"t3a.micro", 2, 1024, x86, "Up to 5 Gigabit"},
	{"t4g.nano", 2, 512, arm, "Up to 5 Gigabit"},
	{"t4g.micro", 2, 1024, arm, "Up to 5 Gigabit"},
	{"t4g.small", 2, 2048, arm, "Up to 5 Gigabit"},
	{"t4g.medium", 2, 4096, arm, "Up to 5 Gigabit"},
	{"t4g.large", 2, 8192, arm, "Up to 5 Gigabit"},
	{"c5.large", 2, 4096, x86, "Up to 10 Gigabit"},
	{"c5.xlarge", 4, 8192, x86, "Up to 10 Gigabit"},
	{"c5n.large", 2, 5376, x86, "Up to 25 Gigabit"},
	{"c5n.xlarge", 4, 10752, x86, "Up to 25 Gigabit"},
	{"c6i.large", 2, 4096, x86, "Up to 12.5 Gigabit"},
	{"c6i.xlarge", 4, 8192, x86, "Up to 12.5 Gigabit"},
	{"c6in.large", 2, 4096, x86, "Up to 25 Gigabit"},
	{"c7i.large", 2, 4096, x86, "Up to 12.5 Gigabit"},
	{"c7i.xlarge", 4, 8192, x86, "Up to 12.5 Gigabit"},
	{"c7g.large", 2, 4096, arm, "Up to 12.5 Gigabit"},
	{"c7g.xlarge", 4, 8192, arm, "Up to 12.5 Gigabit"},
	{"c7gn.large", 2, 4096, arm, "Up to 30 Gigabit"},
	{"c8g.large", 2, 4096, arm, "Up to 12.5 Gigabit"},
	{"c8gn.large", 2, 4096, arm, "Up to 30 Gigabit"},
	{"m6i.large", 2, 8192, x86, "Up to 12.5 Gigabit"},
	{"m6i.xlarge", 4, 16384, x86, "Up to 12.5 Gigabit"},
	{"m7g.large", 2, 8192, arm, "Up to 12.5 Gigabit"},
	{"m7g.xlarge", 4, 16384, arm, "Up to 12.5 Gigabit"},
}

func findType(name string) (machineType, bool) {
	i := slices.IndexFunc(machineTypes, func(t machineType) bool { return t.name == name })
	if i < 0 {
		return machineType{}, false
	}
	return machineTypes[i], true
}

// image is one operating system for one architecture; its id differs by region.
type image struct {
	name       string
	parameters []string // public SSM parameters that lead to it
	owner      string
	arch       string
	user       string // the login that the key pair is given
	rootDevice string
}

// images are what the public parameters name.
var images = makeImages()

func makeImages() []image {
	var list []image
	add := func(name, owner, arch, user, device string, parameters ...string) {
		list = append(list, image{name, parameters, owner, arch, user, device})
	}
	const (
		amazon    = "137112412989"
		debian    = "136693071363"
		canonical = "099720109477"
	)
	for _, arch := range []string{x86, arm} {
		other := map[string]string{x86: "amd64", arm: "arm64"}[arch]
		for _, flavour := range []string{"", "minimal-"} {
			add("al2023-ami-"+flavour+"2023.9.20261116.0-kernel-6.12-"+arch, amazon, arch, "ec2-user", "/dev/xvda",
				fmt.Sprintf("/aws/service/ami-amazon-linux-latest/al2023-ami-%skernel-default-%s", flavour, arch))
		}
		for release, alias := range map[string]string{"12": "bookworm", "13": "trixie"} {
			const path = "/aws/service/debian/release/%s/latest/%s"
			add("debian-"+release+"-"+other+"-20261110-2290", debian, arch, "admin", "/dev/xvda",
				fmt.Sprintf(path, release, other), fmt.Sprintf(path, alias, other))
		}
		add("ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-"+other+"-server-20261112", canonical, arch, "ubuntu", "/dev/sda1",
			fmt.Sprintf("/aws/service/canonical/ubuntu/server/24.04/stable/current/%s/hvm/ebs-gp3/ami-id", other))
	}
	slices.SortFunc(list, func(a, b image) int { return strings.Compare(a.name, b.name) })
	return list
}

func (i image) id(region string) string { return fixedID("ami", region, i.name) }

func (r *region) imageByParameter(name string) (image, bool) {
	for _, img := range images {
		if slices.Contains(img.parameters, name) {
			return img, true
		}
	}
	return image{}, false
}

// imageByID finds an image by its id in this region, or by the
// parameter that "resolve:ssm:NAME" names.
func (r *region) imageByID(id string) (image, error) {
	if name, ok := strings.CutPrefix(id, "resolve:ssm:"); ok {
		if img, ok := r.imageByParameter(name); ok {
			return img, nil
		}
		return image{}, bad("InvalidParameterValue", "The parameter %s could not be resolved to an AMI", name)
	}
	if !strings.HasPrefix(id, "ami-") {
		return image{}, bad("InvalidAMIID.Malformed", "Invalid id: \"%s\" (expecting \"ami-...\")", id)
	}
	for _, img := range images {
		if img.id(r.name) == id {
			return img, nil
		}
	}
	return image{}, bad("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
}
