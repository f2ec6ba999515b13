package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const clone = "../../.."

func TestSettings(t *testing.T) {
	root, err := filepath.Abs(clone)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readSettings(clone, func(name string) string {
		return map[string]string{"DEV_MYSQL_PORT": "3307", "READ_API_ADDR": "127.0.0.1:9000"}[name]
	})
	if err != nil || got.root != root || got.folder != filepath.Join(root, "data", "dev") ||
		got.dynamoDBPort != 28000 || got.mySQLPort != 3307 ||
		got.addresses["write-api"] != ":28080" || got.addresses["read-api"] != "127.0.0.1:9000" {
		t.Errorf("read %+v, %v", got, err)
	}
	for name, value := range map[string]string{
		"DEV_DYNAMODB_PORT": "70000", "DEV_MYSQL_PORT": "x", "WRITE_API_ADDR": "9000", "UPDATER_ADDR": ":0", "READ_API_ADDR": ":-1",
	} {
		_, err := readSettings(clone, func(asked string) string { return map[string]string{name: value}[asked] })
		if err == nil || !strings.Contains(err.Error(), name+" is \""+value+"\"") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	if _, err := readSettings(t.TempDir(), func(string) string { return "" }); err == nil {
		t.Error("no error outside of a clone")
	}
}

func TestHintsNameTheAddresses(t *testing.T) {
	settings, err := readSettings(clone, func(name string) string {
		return map[string]string{"WRITE_API_ADDR": "0.0.0.0:9001"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := settings.hints(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"curl -s http://127.0.0.1:9001/", "curl -s http://127.0.0.1:28082/graphql",
		"http://127.0.0.1:28000", "127.0.0.1:23306", "data/dev\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out.String())
		}
	}
}

// With access on, the commands have a token and leave the account to it.
func TestHintsHaveATokenWhereOneIsNeeded(t *testing.T) {
	for auth, want := range map[string]string{"": "", "dev": `eval "$(curl -s http://127.0.0.1:28084/tokens)"`, "oidc": "# one of https://login.example.com/"} {
		settings, err := readSettings(clone, func(name string) string {
			return map[string]string{"AUTH": auth, "AUTH_ISSUER": "https://login.example.com/"}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := settings.hints(&out); err != nil {
			t.Fatal(err)
		}
		tokens, accounts := strings.Count(out.String(), "-H 'Content-Type: application/json'"), 0
		if auth == "" {
			tokens, accounts = 0, tokens
		}
		if text := out.String(); !strings.Contains(text, want) || strings.Count(text, "Bearer $token") != tokens ||
			strings.Count(text, "01H42K4ABWQ5V2XQEP3A48VE0Z") != accounts {
			t.Errorf("with AUTH=%s:\n%s", auth, text)
		}
	}
}

// whereDataIs matches the variables that name the data and the programs. A developer may export all others.
var whereDataIs = regexp.MustCompile(`^AWS_|^EVENT_STORE|^SHARD_COUNT$|^TENANT_DATABASES$|_(URL|TABLE|ADDR)$`)

func TestTheDataIsOfTheDevelopmentSystemWhateverIsExported(t *testing.T) {
	variables := []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"}
	for _, program := range []string{"./cmd/write-api", "./cmd/read-model-updater", "./cmd/read-api", "./tools/dynamodb-setup"} {
		variables = append(variables, variablesOf(t, program)...)
	}
	slices.Sort(variables)
	variables = slices.Compact(variables)
	for _, name := range variables {
		t.Setenv(name, "exported")
	}
	settings, err := readSettings(clone, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, entry := range settings.environment() {
		name, value, _ := strings.Cut(entry, "=")
		seen[name] = value // the last one counts, as in the operating system
	}
	for _, name := range variables {
		if exported := seen[name] == "exported"; exported == whereDataIs.MatchString(name) {
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

func TestEventsArePublishedOnRequest(t *testing.T) {
	t.Setenv("PUBLISH_URL", "nats://of-another-system:4222")
	settings, err := readSettings(clone, func(name string) string {
		return map[string]string{"DEV_PUBLISH_URL": "nats://127.0.0.1:4222"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	if env := settings.environment(); !slices.Contains(env, "PUBLISH_URL=nats://127.0.0.1:4222") || slices.Contains(env, "PUBLISH_URL=") {
		t.Errorf("the programs see %v", env)
	}
}

// variablesOf returns the variables in a program's help.
func variablesOf(t *testing.T, program string) []string {
	t.Helper()
	help := exec.CommandContext(t.Context(), "go", "run", program, "--help")
	help.Dir = clone
	text, err := help.Output()
	if err != nil {
		t.Fatalf("%v: %v", help.Args, err)
	}
	var found []string
	for _, line := range regexp.MustCompile(`(?m)^  ([A-Z_]+)  `).FindAllSubmatch(text, -1) {
		found = append(found, string(line[1]))
	}
	if len(found) == 0 {
		t.Fatalf("%v lists no variable:\n%s", help.Args, text)
	}
	return found
}
