package awsclient

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

var errNoRegion = errors.New("AWS_REGION is not set: name the region of the tables, such as eu-central-1 " +
	"(for DynamoDB Local any region will do, always the same)")

// Load reads the SDK's variables and files and returns a configuration with this package's retries and connections.
// It connects to nothing. A missing region is an error that names the variable.
func Load(ctx context.Context) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx,
		config.WithRetryer(newRetryer),
		config.WithHTTPClient(newHTTPClient()),
	)
	if err != nil {
		return aws.Config{}, fmt.Errorf("read the AWS settings: %w", err)
	}
	if cfg.Region == "" {
		return aws.Config{}, errNoRegion
	}
	return cfg, nil
}

// DynamoDB returns a client of the tables. It is safe for concurrent use and meant to be shared.
//
// The SDK's check of the answer's checksum is off: it does no more than log a warning, and it logs one for every answer
// without a checksum too, which is what DynamoDB Local sends for every failed condition. TLS guards the bytes.
func DynamoDB(cfg aws.Config) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.DisableValidateResponseChecksum = true })
}

// Streams returns a client of the tables' streams. It is safe for concurrent use and meant to be shared.
func Streams(cfg aws.Config) *dynamodbstreams.Client { return dynamodbstreams.NewFromConfig(cfg) }
