package codectest_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/threads/tests/codectest"
)

// told records what a test reports.
type told struct {
	testing.TB
	errors string
}

func (*told) Helper() {}

func (r *told) Errorf(format string, args ...any) { r.errors += fmt.Sprintf(format, args...) }

// Fatalf ends the test's function, as that of a test does.
func (*told) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func TestOnlyWhatWasNeverReleasedIsWrittenAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	git := func(arguments ...string) {
		t.Helper()
		identity := []string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com"}
		if output, err := exec.CommandContext(t.Context(), "git", append(identity, arguments...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", arguments, err, output)
		}
	}
	// check compares a golden file with JSON, and then reads it.
	check := func(update, name, encoded string) (file, said string) {
		t.Helper()
		t.Setenv("UPDATE_GOLDEN", update)
		found := &told{TB: t}
		codectest.CheckGolden(found, name, []byte(encoded))
		return string(codectest.Golden(t, name)), found.errors
	}

	if file, said := check("1", "order/new.json", `{"a":1}`); file != `{"a":1}` || said != "" {
		t.Errorf("a missing file is %s: %s", file, said)
	}
	if file, said := check("1", "order/new.json", `{"a":2}`); file != `{"a":1}` || !strings.Contains(said, "was released") {
		t.Errorf("without a repository, a file became %s: %s", file, said)
	}
	git("init", "-b", "main", ".")
	if file, said := check("1", "order/new.json", `{"a":2}`); file != `{"a":2}` || said != "" {
		t.Errorf("before the first commit, a file is %s: %s", file, said)
	}
	git("add", ".")
	git("commit", "-m", "released")
	git("checkout", "-b", "work")
	check("1", "order/later.json", `{"b":1}`)
	git("add", ".")
	git("commit", "-m", "not yet")
	if file, said := check("1", "order/new.json", `{"a":3}`); file != `{"a":2}` || !strings.Contains(said, "was released") {
		t.Errorf("a file of main became %s: %s", file, said)
	}
	if err := os.Remove("testdata/order/new.json"); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		check("1", "order/new.json", `{"a":3}`)
	}()
	if _, err := os.Stat("testdata/order/new.json"); !os.IsNotExist(err) {
		t.Errorf("a file of main that was deleted has been written: %v", err)
	}
	if file, said := check("", "order/later.json", `{"b":2}`); file != `{"b":1}` || !strings.Contains(said, "UPDATE_GOLDEN=1 go -C") {
		t.Errorf("without being asked, a file became %s: %s", file, said)
	}
	if file, said := check("1", "order/later.json", `{"b":2}`); file != `{"b":2}` || said != "" {
		t.Errorf("a file of a branch is %s: %s", file, said)
	}
}
