package testenv

import (
	"os"
	"testing"
)

const (
	dynamoDBEndpointVar = "TEST_DYNAMODB_ENDPOINT"
	mysqlDSNVar         = "TEST_MYSQL_DSN"
)

// require returns the value of a service's environment variable. If it is missing, the test is skipped with -short and
// fails otherwise.
func require(t testing.TB, variable, service string) string {
	t.Helper()
	if value := os.Getenv(variable); value != "" {
		return value
	}
	if testing.Short() {
		t.Skipf("left out: needs %s (%s is not set)", service, variable)
	}
	t.Fatalf("left out: needs %s, and %s is not set; run `make test`, "+
		"or `go test -short ./...` for the tests that need no services", service, variable)
	return ""
}
