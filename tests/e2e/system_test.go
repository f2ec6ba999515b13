package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
)

// URLs of programs that are running already, such as those of the compose file.
const (
	writeAPIVar = "E2E_WRITE_API_URL"
	readAPIVar  = "E2E_READ_API_URL"
	updaterVar  = "E2E_UPDATER_URL"
)

// system is the whole application with a store and a read model of its own.
type system struct {
	writeURL, readURL, updaterURL string
	writer, projector, reader     *programs.Program // the same in a standalone system
	folder                        string            // of the SQLite files of a standalone system
	store                         []string          // the environment for programs that work on its data
}

// setups are the ways to run the system in the README.
var setups = map[string]func(*testing.T) *system{
	"three programs on DynamoDB and MySQL": func(t *testing.T) *system { return threePrograms(t, dynamoDB(t)) },
	"three programs on one MySQL":          func(t *testing.T) *system { return threePrograms(t, oneMySQL(t)) },
	"one process on SQLite":                func(t *testing.T) *system { return oneProcess(t) },
}

// eachSystem runs the test on a new system in every setup, or on the running one that the environment names.
func eachSystem(t *testing.T, test func(*testing.T, *system)) {
	t.Helper()
	if url := os.Getenv(writeAPIVar); url != "" {
		test(t, &system{writeURL: url, readURL: os.Getenv(readAPIVar), updaterURL: os.Getenv(updaterVar)})
		return
	}
	for name, start := range setups {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // much of a test's time is waiting
			test(t, start(t))
		})
	}
}

// eachOwnSystem is eachSystem for tests that start and kill programs.
func eachOwnSystem(t *testing.T, test func(*testing.T, *system)) {
	t.Helper()
	startsPrograms(t)
	eachSystem(t, test)
}

// startsPrograms is for tests that start programs of their own. They run side by side, as much of it is waiting.
func startsPrograms(t *testing.T) {
	t.Helper()
	ownPrograms(t)
	t.Parallel()
}

// ownPrograms leaves the test out if the environment names running programs.
func ownPrograms(t *testing.T) {
	t.Helper()
	if os.Getenv(writeAPIVar) != "" {
		t.Skipf("left out: this test starts and kills programs of its own, and %s names running ones", writeAPIVar)
	}
}

func threePrograms(t *testing.T, env []string) *system {
	t.Helper()
	runOnce(t, "migrate", env, "up")
	write := programs.New(t, binaries, "write-api", append([]string{storePatiently}, env...), "WRITE_API_ADDR")
	updater := programs.New(t, binaries, "read-model-updater", env, "UPDATER_ADDR")
	read := programs.New(t, binaries, "read-api", append([]string{patiently}, env...), "READ_API_ADDR")
	for _, p := range []*programs.Program{write, updater, read} {
		p.Start(t)
	}
	return &system{
		writeURL: write.URLs[0], updaterURL: updater.URLs[0], readURL: read.URLs[0],
		writer: write, projector: updater, reader: read, store: slices.Clone(env),
	}
}

// oneProcess starts the standalone program with additional variables.
func oneProcess(t *testing.T, more ...string) *system {
	t.Helper()
	folder := t.TempDir()
	env := append([]string{"DATA_DIR=" + folder, snapshotsOften, patiently, storePatiently, "LOG_LEVEL=info"}, more...)
	p := programs.New(t, binaries, "standalone", env, "WRITE_API_ADDR", "READ_API_ADDR", "UPDATER_ADDR", "WEB_ADDR")
	p.Start(t)
	store := []string{
		"EVENT_STORE=sqlite", "EVENT_STORE_URL=sqlite:" + filepath.Join(folder, "events.db"),
		"DATABASE_URL=sqlite:" + filepath.Join(folder, "readmodel.db"), snapshotsOften,
	}
	return &system{
		writeURL: p.URLs[0], readURL: p.URLs[1], updaterURL: p.URLs[2], writer: p, projector: p, reader: p, folder: folder, store: store,
	}
}

const (
	snapshotsOften = "SNAPSHOT_EVERY=10"    // so that small threads have some
	patiently      = "READ_WAIT_TIMEOUT=8s" // beside all other tests, rows may follow late
	storePatiently = "STORE_TIMEOUT=12s"    // the same
)

func dynamoDB(t *testing.T) []string {
	t.Helper()
	endpoint, name := testenv.DynamoDB(t), testenv.UniqueName(t)
	env := []string{
		"AWS_REGION=" + testenv.Region,
		"AWS_ACCESS_KEY_ID=" + testenv.AccessKeyID(t),
		"AWS_SECRET_ACCESS_KEY=" + testenv.SecretAccessKey,
		"AWS_ENDPOINT_URL_DYNAMODB=" + endpoint,
		"AWS_ENDPOINT_URL_DYNAMODB_STREAMS=" + endpoint,
		"JOURNAL_TABLE=" + name + "-journal",
		"SNAPSHOT_TABLE=" + name + "-snapshot",
		"DATABASE_URL=" + testenv.MySQL(t),
		snapshotsOften,
	}
	runOnce(t, "dynamodb-setup", env)
	return env
}

func oneMySQL(t *testing.T) []string {
	t.Helper()
	url := testenv.MySQL(t)
	return []string{"EVENT_STORE=mysql", "EVENT_STORE_URL=" + url, "DATABASE_URL=" + url, snapshotsOften}
}

func runOnce(t *testing.T, name string, env []string, args ...string) {
	t.Helper()
	if output, problem, code := runProgram(t, filepath.Join(binaries, name), env, args...); code != 0 {
		t.Fatalf("%s: exit code %d\n%s\n%s", name, code, output, problem)
	}
}
