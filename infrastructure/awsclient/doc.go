// Package awsclient makes the clients of DynamoDB and DynamoDB Streams that the programs share, with retries and
// connections set on purpose: the SDK's own settings suit batch jobs, not a command that someone waits for.
//
// What to connect to comes from the SDK's own variables: AWS_REGION, AWS_ENDPOINT_URL_DYNAMODB,
// AWS_ENDPOINT_URL_DYNAMODB_STREAMS (both may be missing on AWS) and those of the credentials. The gateway to the
// journal (interfaceadaptor/gateway/dynamodb), the stream's consumer and tools/dynamodb-setup use these clients; this
// package knows none of them.
package awsclient
