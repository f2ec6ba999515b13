package compose_test

import (
	"os/exec"
	"regexp"
	"slices"
	"testing"
)

// The SDK reads these itself. All programs get the same set in the compose file.
var sdkVariables = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL_DYNAMODB_STREAMS"}

// A variable that is not in a program's help must be a misspelling.
func TestEveryVariableIsReadByItsProgram(t *testing.T) {
	sources := map[string]string{
		"write-api":          "cmd/write-api",
		"read-model-updater": "cmd/read-model-updater",
		"read-api":           "cmd/read-api",
		"web":                "cmd/web",
		"dev-issuer":         "cmd/dev-issuer",
		"dynamodb-setup":     "tools/dynamodb-setup",
		"migrate":            "rdb-migration/cmd/migrate",
	}
	project := load(t)
	for name, folder := range sources {
		known := append(variablesOf(t, folder), sdkVariables...)
		environment := service(t, project, name).Environment
		if len(environment) == 0 {
			t.Errorf("%s has no environment", name)
		}
		for variable := range environment {
			if !slices.Contains(known, variable) {
				t.Errorf("%s gets %s, which is not in %s --help", name, variable, folder)
			}
		}
	}
}

// variablesOf returns the variables in a program's help.
func variablesOf(t *testing.T, folder string) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "run", "./"+folder, "--help")
	command.Dir = root
	help, err := command.Output()
	if err != nil {
		t.Fatalf("%s --help: %v", folder, err)
	}
	return regexp.MustCompile(`\b[A-Z][A-Z0-9_]+\b`).FindAllString(string(help), -1)
}

func TestThePasswordIsOneAndCanBeReplaced(t *testing.T) {
	project := load(t, "MYSQL_PASSWORD=something-else")
	if got := *service(t, project, "mysql").Environment["MYSQL_PASSWORD"]; got != "something-else" {
		t.Errorf("mysql has the password %q", got)
	}
	const want = "threads:something-else@tcp(mysql:3306)/threads"
	for _, name := range []string{"migrate", "read-model-updater", "read-api"} {
		if got := *service(t, project, name).Environment["DATABASE_URL"]; got != want {
			t.Errorf("%s has the DATABASE_URL %q, want %q", name, got, want)
		}
	}
	if _, known := service(t, project, "mysql").Environment["MYSQL_ROOT_PASSWORD"]; known {
		t.Error("the password of root is in the file; let the image create one")
	}
}

func TestPortsCanBeReplaced(t *testing.T) {
	for variable, name := range map[string]string{
		"WRITE_API_PORT": "write-api", "UPDATER_PORT": "read-model-updater", "READ_API_PORT": "read-api", "WEB_PORT": "web",
		"DEV_DYNAMODB_PORT": "dynamodb", "DEV_MYSQL_PORT": "mysql", "DYNAMODB_ADMIN_PORT": "dynamodb-admin",
		"DEV_ISSUER_PORT": "dev-issuer", "NATS_PORT": "nats",
	} {
		if got := service(t, load(t, variable+"=39999"), name).Ports[0].Published; got != "39999" {
			t.Errorf("%s=39999 publishes %s at %s", variable, name, got)
		}
	}
}
