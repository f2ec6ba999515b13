package testenv

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Region and credentials are required by DynamoDB Local, which checks neither. Programs started by tests get the same
// values through the SDK's variables.
const (
	Region          = "us-east-1"
	SecretAccessKey = "local"
)

var process = rand.Text()

// AccessKeyID selects the database of a test with its subtests: DynamoDB Local keeps one for each access key. In a
// shared one each write to a table with a stream reads the records of all streams that began before.
func AccessKeyID(t testing.TB) string {
	test, _, _ := strings.Cut(t.Name(), "/")
	return process + strings.ReplaceAll(test, "_", "")
}

// DynamoDB returns the endpoint URL of a running DynamoDB Local, which also serves DynamoDB Streams. Name
// tables with UniqueName.
func DynamoDB(t testing.TB) string {
	t.Helper()
	return require(t, dynamoDBEndpointVar, "DynamoDB Local")
}

// connections are those of all tests; [Main] closes them.
var connections = &http.Transport{MaxIdleConnsPerHost: 128, MaxIdleConns: 128}

// DynamoDBConfig returns an SDK configuration for that endpoint. It has few retries, so that a failing test fails soon,
// and pooled connections for tests with many concurrent clients.
func DynamoDBConfig(t testing.TB) aws.Config {
	t.Helper()
	return aws.Config{
		Region:       Region,
		BaseEndpoint: aws.String(DynamoDB(t)),
		Credentials:  credentials.NewStaticCredentialsProvider(AccessKeyID(t), SecretAccessKey, ""),
		HTTPClient:   &http.Client{Timeout: 30 * time.Second, Transport: connections},
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = 4
				o.MaxBackoff = 200 * time.Millisecond
			})
		},
	}
}
