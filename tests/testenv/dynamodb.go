package testenv

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Region and the credentials are what DynamoDB Local needs to see to accept a request; it checks
// neither. Programs started by tests take the same values through the SDK's own variables.
const (
	Region          = "us-east-1"
	AccessKeyID     = "local"
	SecretAccessKey = "local"
)

// DynamoDB returns the endpoint URL of a running DynamoDB Local. It serves DynamoDB and DynamoDB
// Streams alike, and all tests share it: name tables with UniqueName.
func DynamoDB(t testing.TB) string {
	t.Helper()
	return require(t, dynamoDBEndpointVar, "DynamoDB Local")
}

// DynamoDBConfig returns an SDK configuration for that endpoint. Retries are short, so that a
// failing test fails soon, and connections are pooled for tests with many concurrent clients.
func DynamoDBConfig(t testing.TB) aws.Config {
	t.Helper()
	return aws.Config{
		Region:       Region,
		BaseEndpoint: aws.String(DynamoDB(t)),
		Credentials:  credentials.NewStaticCredentialsProvider(AccessKeyID, SecretAccessKey, ""),
		HTTPClient: awshttp.NewBuildableClient().
			WithTimeout(30 * time.Second).
			WithTransportOptions(func(transport *http.Transport) {
				transport.MaxIdleConnsPerHost = 128
				transport.MaxIdleConns = 128
			}),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = 4
				o.MaxBackoff = 200 * time.Millisecond
			})
		},
	}
}
