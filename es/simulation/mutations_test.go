package simulation

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each patch in the folder mutations breaks the library in one place. The simulation must find each of them.
func TestMutationsAreFound(t *testing.T) {
	if os.Getenv("RELEASE_CHECK") == "" {
		t.Skip("left out: it takes minutes; make release-check runs it")
	}
	patches, err := filepath.Glob("mutations/*.patch")
	if err != nil || len(patches) == 0 {
		t.Fatalf("no mutations: %v", err)
	}
	for _, patch := range patches {
		t.Run(strings.TrimSuffix(filepath.Base(patch), ".patch"), func(t *testing.T) {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS("..")); err != nil {
				t.Fatal(err)
			}
			output(t, folder, nil, true, "git", "apply", "simulation/"+patch)
			output(t, folder, nil, true, "go", "build", "./...")
			told := output(t, folder, []string{"SCHEDULES=1000"}, false, "go", "test", "-count=1", "-timeout=5m", "-run=TestSchedules", "./simulation")
			if !strings.Contains(told, "Alone again") {
				t.Errorf("1,000 schedules did not find it:\n%s", told)
			}
		})
	}
}

// output runs a command in the folder. It ends the test if the command fails but must not.
func output(t *testing.T, folder string, env []string, must bool, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = folder
	command.Env = append(os.Environ(), env...)
	told, err := command.CombinedOutput()
	if must && err != nil {
		t.Fatalf("%s: %v\n%s", name, err, told)
	}
	return string(told)
}
