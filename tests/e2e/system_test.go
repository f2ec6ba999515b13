package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/threads/tests/testenv"
)

// Where programs run already, such as those of the compose file.
const (
	writeAPIVar = "E2E_WRITE_API_URL"
	readAPIVar  = "E2E_READ_API_URL"
	updaterVar  = "E2E_UPDATER_URL"
)

// system is the whole application, with a store and a read model of its own.
type system struct {
	writeURL, readURL, updaterURL string
	programs                      []*program // empty where they are not ours
}

// anySystem is the running system that the environment names, or else a new one.
func anySystem(t *testing.T) *system {
	t.Helper()
	if url := os.Getenv(writeAPIVar); url != "" {
		return &system{writeURL: url, readURL: os.Getenv(readAPIVar), updaterURL: os.Getenv(updaterVar)}
	}
	return ownSystem(t)
}

// ownSystem is a new system whose programs the test may kill.
func ownSystem(t *testing.T) *system {
	t.Helper()
	if os.Getenv(writeAPIVar) != "" {
		t.Skipf("left out: this test starts and kills programs of its own, and %s names running ones", writeAPIVar)
	}
	env := threeProgramsOnDynamoDB(t)
	runOnce(t, "dynamodb-setup", env)
	runOnce(t, "migrate", env, "up")

	write := newProgram(t, "write-api", "WRITE_API_ADDR", env)
	updater := newProgram(t, "read-model-updater", "UPDATER_ADDR", env)
	read := newProgram(t, "read-api", "READ_API_ADDR", env)
	s := &system{writeURL: write.url, updaterURL: updater.url, readURL: read.url, programs: []*program{write, updater, read}}
	for _, p := range s.programs {
		p.start(t)
	}
	return s
}

func (s *system) program(name string) *program {
	for _, p := range s.programs {
		if p.name == name {
			return p
		}
	}
	return nil
}

func threeProgramsOnDynamoDB(t *testing.T) []string {
	endpoint, name := testenv.DynamoDB(t), testenv.UniqueName(t)
	return []string{
		"AWS_REGION=" + testenv.Region,
		"AWS_ACCESS_KEY_ID=" + testenv.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY=" + testenv.SecretAccessKey,
		"AWS_ENDPOINT_URL_DYNAMODB=" + endpoint,
		"AWS_ENDPOINT_URL_DYNAMODB_STREAMS=" + endpoint,
		"JOURNAL_TABLE=" + name + "-journal",
		"SNAPSHOT_TABLE=" + name + "-snapshot",
		"SNAPSHOT_EVERY=10", // so that the tests come across snapshots
		"DATABASE_URL=" + testenv.MySQL(t),
		"LOG_LEVEL=info",
	}
}

func runOnce(t *testing.T, name string, env []string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(binaries, name), args...)
	command.Env = append(os.Environ(), env...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, output)
	}
}
