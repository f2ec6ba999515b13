// Package testenv gives integration tests access to real services.
//
// It starts nothing: `make test` does, through tools/dev/devservices, and passes the addresses in
// TEST_DYNAMODB_ENDPOINT and TEST_MYSQL_DSN. A test asks for a service in one line:
//
//	cfg := testenv.DynamoDBConfig(t) // aws.Config for DynamoDB Local
//	dsn := testenv.MySQL(t)          // DSN of a fresh, empty database
//
// If the variable is missing, the test is skipped under `go test -short` and fails otherwise, so that a plain `go test
// ./...` reports what it left out instead of passing.
package testenv
