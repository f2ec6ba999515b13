package dev_test

import (
	"os/exec"
	"slices"
	"testing"

	"example.com/threads/tests/testenv"
	"example.com/threads/tools/devservices/internal/dev"
)

// developers are the variables of how the programs work, which a developer may export. All others are of where the data
// is.
var developers = []string{
	"LOG_LEVEL", "LOG_FORMAT", "SNAPSHOT_EVERY", "SNAPSHOT_KEEP", "SNAPSHOT_TTL", "STORE_TIMEOUT", "TRUSTED_PROXIES",
	"STREAM_POLL_MIN", "STREAM_POLL_MAX", "STREAM_PAGE_LIMIT", "STREAM_DISCOVERY_INTERVAL", "STREAM_CONCURRENCY",
	"READ_WAIT_TIMEOUT", "QUERY_COMPLEXITY_LIMIT",
}

func TestTheDataIsOfTheDevelopmentSystemWhateverIsExported(t *testing.T) {
	variables := []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"}
	for _, program := range []string{"./cmd/write-api", "./cmd/read-model-updater", "./cmd/read-api", "./tools/dynamodb-setup"} {
		help := exec.CommandContext(t.Context(), "go", "run", program, "--help")
		help.Dir = "../../../.."
		variables = append(variables, testenv.VariablesOf(t, help)...)
	}
	slices.Sort(variables)
	variables = slices.Compact(variables)
	for _, name := range variables {
		t.Setenv(name, "exported")
	}
	settings, err := dev.ReadSettings(clone(t), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	seen := settings.Environment()
	for _, name := range variables {
		if exported := seen[name] == "exported"; exported != slices.Contains(developers, name) {
			t.Errorf("%s is %q for the programs", name, seen[name])
		}
	}
	for name, want := range map[string]string{
		"EVENT_STORE": "dynamodb", "EVENT_STORE_URL": "", "JOURNAL_TABLE": "", "SNAPSHOT_TABLE": "", "SHARD_COUNT": "",
		"DATABASE_URL": "threads:threads@tcp(127.0.0.1:23306)/threads?parseTime=true", "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:28000",
		"AWS_PROFILE": "", "WRITE_API_ADDR": ":28080",
	} {
		if got := seen[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
