package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/threads/es/estest/testenv"
)

// A developer may have exported variables, for example of another event store. Programs started by tests must not use
// them. Here every variable that a program reads is set to a value with which it can't start.
func TestWhatIsExportedIsNotUsed(t *testing.T) {
	ownPrograms(t)
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
