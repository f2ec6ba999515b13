package testenv_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestWithoutServices runs this test binary again without the services' variables.
func TestWithoutServices(t *testing.T) {
	run := func(args ...string) (string, error) {
		args = append(args, "-test.v", "-test.run=^TestDynamoDBConfigReachesBothServices$")
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
			return strings.HasPrefix(entry, "TEST_")
		})
		output, err := cmd.CombinedOutput()
		return string(output), err
	}

	output, err := run()
	if err == nil || !strings.Contains(output, "run `make test`") {
		t.Errorf("want a failure that says what to do, got %v and:\n%s", err, output)
	}
	output, err = run("-test.short")
	if err != nil || !strings.Contains(output, "--- SKIP") {
		t.Errorf("want a skip under -short, got %v and:\n%s", err, output)
	}
}
