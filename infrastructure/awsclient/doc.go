// Package awsclient creates the clients of DynamoDB and DynamoDB Streams for all programs. The SDK's default retries
// and connections suit batch jobs; these are set for commands that a user waits for.
//
// The SDK's own variables say where to connect: AWS_REGION, AWS_ENDPOINT_URL_DYNAMODB,
// AWS_ENDPOINT_URL_DYNAMODB_STREAMS (the last two are not needed on AWS) and those of the credentials. The clients are
// used by the DynamoDB gateway (es/dynamodb), the stream's source and tools/dynamodb-setup.
package awsclient
