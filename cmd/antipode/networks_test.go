package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode"
)

func TestNetworkWishes(t *testing.T) {
	const vpc, subnet = "vpc-0123456789abcdef0", "subnet-0123456789abcdef0"
	virginia, ireland := antipode.Region{Cloud: "aws", Name: "us-east-1"}, antipode.Region{Cloud: "aws", Name: "eu-west-1"}
	ashburn, oregon := antipode.Region{Cloud: "gcp", Name: "us-east4"}, antipode.Region{Cloud: "gcp", Name: "us-west1"}
	all := []antipode.Region{virginia, ireland, ashburn, oregon}
	for name, tt := range map[string]struct {
		flags   []string
		regions []antipode.Region
		want    map[string]string
		says    string
	}{
		"as before":         {[]string{"us-east-1=" + vpc, "aws:eu-west-1=" + subnet}, all, map[string]string{"aws:us-east-1": vpc, "aws:eu-west-1": subnet}, ""},
		"both clouds":       {[]string{"aws=" + vpc + ",gcp=lan"}, []antipode.Region{virginia, oregon}, map[string]string{"aws:us-east-1": vpc, "gcp:us-west1": "lan"}, ""},
		"one for all":       {[]string{"gcp=lan"}, all, map[string]string{"gcp:us-east4": "lan", "gcp:us-west1": "lan"}, ""},
		"a region's subnet": {[]string{"gcp=lan,us-west1=lan/b"}, all, map[string]string{"gcp:us-east4": "lan", "gcp:us-west1": "lan/b"}, ""},
		"shared": {[]string{"gcp=projects/host-1/global/networks/lan,us-west1=projects/host-1/global/networks/lan/b"}, all,
			map[string]string{"gcp:us-east4": "projects/host-1/global/networks/lan", "gcp:us-west1": "projects/host-1/global/networks/lan/b"}, ""},
		"a VPC for two":    {[]string{"aws=" + vpc}, all, nil, "say of which, as in aws:us-east-1=" + vpc},
		"two for one":      {[]string{"gcp=lan,wan"}, all, nil, "gcp takes one network, not lan and wan"},
		"two networks":     {[]string{"us-east4=lan", "us-west1=wan"}, all, nil, "in one network, not in"},
		"left out":         {[]string{"us-east4=lan"}, all, nil, "gcp:us-west1 has none: name it for all with gcp=lan"},
		"of another cloud": {[]string{"us-east-1=lan"}, all, nil, "aws:us-east-1 takes the id of a VPC"},
		"an id of AWS":     {[]string{"us-west1=" + vpc, "us-east4=" + vpc}, all, nil, "is an id of AWS"},
		"no such id":       {[]string{"us-east-1=vpc-xyz"}, all, nil, "aws:us-east-1 takes the id of a VPC"},
		"not in the sweep": {[]string{"gcp=lan"}, all[:2], nil, "no region of this sweep is in gcp"},
		"nor that region":  {[]string{"us-west4=lan"}, all, nil, "us-west4 is not a region of this sweep"},
		"no place":         {[]string{"lan"}, all, nil, "not of the form"},
		"no network":       {[]string{"gcp=projects/host/networks/lan"}, all, nil, "not of the form"},
	} {
		t.Run(name, func(t *testing.T) {
			n := networkWishes{preferences{}}
			var got map[string]string
			var err error
			for _, flag := range tt.flags {
				if err == nil {
					err = n.Set(flag)
				}
			}
			if err == nil {
				got, err = n.of(tt.regions)
			}
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("error %v, want %q", err, tt.says)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v; networks (-want +got):\n%s", err, diff)
			}
		})
	}
}
