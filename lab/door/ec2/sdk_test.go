package ec2_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go"
	"golang.org/x/crypto/ssh"

	antipode "github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door/doortest"
	"github.com/antipode-bench/antipode/lab/door/ec2"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/model"
	"github.com/antipode-bench/antipode/lab/door/rack"
	"github.com/antipode-bench/antipode/lab/vm/vmtest"
)

const (
	ireland  = "eu-west-1"
	ohio     = "us-east-2"
	capeTown = "af-south-1" // opt-in
)

// lab is a door with a hypervisor in memory behind it.
type lab struct {
	t        *testing.T
	door     *ec2.Door
	machines *vmtest.Hypervisor
	rack     *rack.Rack
	client   *http.Client
	url      string
}

// open opens a door that is called without a network, so that it can be used
// inside a synctest bubble. What is said is held against the API's model.
func open(t *testing.T, faults fault.Faults, timing rack.Timing) *lab {
	t.Helper()
	regions := []antipode.Region{
		{Cloud: "aws", Name: ireland}, {Cloud: "aws", Name: ohio},
		{Cloud: "aws", Name: capeTown, OptIn: true},
		{Cloud: "aws", Name: "cn-north-1", Partition: "aws-cn"}, {Cloud: "gcp", Name: "us-east1"},
	}
	r, injector, machines := doortest.Rack(t, faults, timing)
	door := ec2.New(regions, r, injector, doortest.Silence)
	return &lab{t: t, door: door, machines: machines, rack: r, client: &http.Client{Transport: model.Watch(t, doortest.Direct(door))}, url: "http://door.test"}
}

// listen puts the lab on a loopback port and lets its clients use it.
func (l *lab) listen() *lab {
	server := httptest.NewServer(l.door)
	l.t.Cleanup(server.Close)
	l.client, l.url = &http.Client{Transport: model.Watch(l.t, server.Client().Transport)}, server.URL
	return l
}

func (l *lab) config(region string) aws.Config {
	return aws.Config{
		Region:       region,
		BaseEndpoint: aws.String(l.url),
		HTTPClient:   l.client,
		Credentials:  credentials.NewStaticCredentialsProvider("AKIDLAB", "secret", ""),
		Retryer:      func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 1) },
	}
}

func (l *lab) ec2(region string) *awsec2.Client { return awsec2.NewFromConfig(l.config(region)) }

// image is the id of Amazon Linux in a region.
func (l *lab) image(region string) *string {
	l.t.Helper()
	out, err := ssm.NewFromConfig(l.config(region)).GetParameter(l.t.Context(), &ssm.GetParameterInput{
		Name: aws.String("/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"),
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return out.Parameter.Value
}

// run launches one machine and returns its id.
func (l *lab) run(region string, edit func(*awsec2.RunInstancesInput)) string {
	l.t.Helper()
	out, err := l.ec2(region).RunInstances(l.t.Context(), l.runInput(region, edit))
	if err != nil {
		l.t.Fatal(err)
	}
	return *out.Instances[0].InstanceId
}

func (l *lab) runInput(region string, edit func(*awsec2.RunInstancesInput)) *awsec2.RunInstancesInput {
	in := &awsec2.RunInstancesInput{
		ImageId: l.image(region), InstanceType: types.InstanceTypeT3Nano,
		MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
	}
	if edit != nil {
		edit(in)
	}
	return in
}

// importKey makes a key pair and waits until it can be seen.
func (l *lab) importKey(region, name string) (line string) {
	l.t.Helper()
	line = publicKey(l.t)
	_, err := l.ec2(region).ImportKeyPair(l.t.Context(), &awsec2.ImportKeyPairInput{KeyName: &name, PublicKeyMaterial: []byte(line)})
	if err != nil {
		l.t.Fatal(err)
	}
	l.settle()
	return line
}

func (l *lab) createGroup(region, name string) string {
	l.t.Helper()
	out, err := l.ec2(region).CreateSecurityGroup(l.t.Context(), &awsec2.CreateSecurityGroupInput{
		GroupName: &name, Description: aws.String("a test"),
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.settle()
	return *out.GroupId
}

// settle waits until what was made can be seen.
func (l *lab) settle() { time.Sleep(l.rack.Timing.Visible.Max) }

func (l *lab) state(region, id string) types.InstanceStateName {
	l.t.Helper()
	out, err := l.ec2(region).DescribeInstances(l.t.Context(), &awsec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		l.t.Fatal(err)
	}
	return out.Reservations[0].Instances[0].State.Name
}

func (l *lab) terminate(region string, ids ...string) {
	l.t.Helper()
	if _, err := l.ec2(region).TerminateInstances(l.t.Context(), &awsec2.TerminateInstancesInput{InstanceIds: ids}); err != nil {
		l.t.Fatal(err)
	}
}

// wantCode fails unless err is the API's error of that code.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code {
		t.Errorf("error = %v, want code %s", err, code)
	}
}

func publicKey(t testing.TB) string {
	t.Helper()
	pub, err := ssh.NewPublicKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public())
	if err != nil {
		t.Fatal(err)
	}
	return string(ssh.MarshalAuthorizedKey(pub))
}

func hostKeyPEM(t testing.TB) string {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), "")
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}

func base64Of(s string) *string { return aws.String(base64.StdEncoding.EncodeToString([]byte(s))) }
