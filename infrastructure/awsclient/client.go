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
	"(for DynamoDB Local use any region, but always the same)")

// Load reads the SDK's variables and files and returns a configuration with this package's retries and connections. It
// does not connect. Without a region it fails with an error that names the variable.
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
// The SDK's checksum validation of answers is off. It only logs warnings, also for every answer without a checksum,
// which DynamoDB Local sends for every failed condition. TLS protects the data.
func DynamoDB(cfg aws.Config, options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, append(options, func(o *dynamodb.Options) {
		o.DisableValidateResponseChecksum = true
		o.APIOptions = append(o.APIOptions, traceCalls)
	})...)
}

// Streams returns a client of the tables' streams. It is safe for concurrent use and meant to be shared.
func Streams(cfg aws.Config) *dynamodbstreams.Client { return dynamodbstreams.NewFromConfig(cfg) }
