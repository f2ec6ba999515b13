package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/threads/tests/testenv"
)

// What is exported where the tests run - the event store of somebody's own system, say - is not for the programs that
// they start. Every variable that a program reads is set to what it can't start with.
func TestWhatIsExportedIsNotUsed(t *testing.T) {
	startsPrograms(t)
	for _, name := range []string{"write-api", "read-model-updater", "read-api", "standalone", "threadctl", "dynamodb-setup"} {
		help := exec.CommandContext(t.Context(), filepath.Join(binaries, name), "--help")
		for _, variable := range testenv.VariablesOf(t, help) {
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
