package aws

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// StaticCredentials are a key and its secret, for endpoints of one's own.
func StaticCredentials(accessKeyID, secret string) aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(accessKeyID, secret, "")
}
