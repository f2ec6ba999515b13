// Package testenv gives integration tests the real services that they run against.
//
// It starts nothing: `make test` does, through tools/dev/devservices, and hands the addresses over in
// TEST_DYNAMODB_ENDPOINT and TEST_MYSQL_DSN. A test that needs a service asks for it in one line:
//
//	cfg := testenv.DynamoDBConfig(t) // aws.Config for DynamoDB Local
//	dsn := testenv.MySQL(t)          // DSN of a fresh, empty database
//
// Where the variable is missing the test is skipped under `go test -short` and fails otherwise, so
// that a plain `go test ./...` says what it left out instead of passing quietly.
package testenv
