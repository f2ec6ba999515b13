package e2e

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// What is exported where the tests run - the event store of somebody's own system, say - is not for the programs that
// they start. Every variable that a program reads is set to what it can't start with.
func TestWhatIsExportedIsNotUsed(t *testing.T) {
	startsPrograms(t)
	for _, name := range []string{"write-api", "read-model-updater", "read-api", "standalone", "dynamodb-setup"} {
		for _, variable := range variablesOf(t, name) {
			t.Setenv(variable, "/dev/null/exported")
		}
	}
	eachSystem(t, func(t *testing.T, s *system) {
		ada := s.person("")
		made := ada.command(t, "/threads/create", fields{"name": "tea"})
		if view := ada.view(t, made.text("thread_id"), token(made)); view.Name != "tea" {
			t.Errorf("read %+v", view)
		}
	})
}

// variablesOf are the variables that a program's help tells of.
func variablesOf(t *testing.T, name string) []string {
	t.Helper()
	help, err := exec.CommandContext(t.Context(), filepath.Join(binaries, name), "--help").Output()
	if err != nil {
		t.Fatalf("%s --help: %v", name, err)
	}
	var found []string
	for _, line := range regexp.MustCompile(`(?m)^  ([A-Z_]+)  `).FindAllStringSubmatch(string(help), -1) {
		found = append(found, line[1])
	}
	if len(found) == 0 {
		t.Fatalf("%s --help tells of no variable:\n%s", name, help)
	}
	return found
}
