package simulation

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var patched = regexp.MustCompile(`(?m)^\+\+\+ b/(.+)$`)

// MutationsAreFound applies each patch in the folder mutations, which breaks the code of a module in one place. The
// TestSchedules of the test's package must find each of them: that takes minutes, and is done with RELEASE_CHECK=1.
func MutationsAreFound(t *testing.T, module string) {
	patches, err := filepath.Glob("mutations/*.patch")
	if err != nil || len(patches) == 0 {
		t.Fatalf("no mutations: %v", err)
	}
	for _, patch := range patches {
		t.Run(strings.TrimSuffix(filepath.Base(patch), ".patch"), func(t *testing.T) {
			overlay := overlayOf(t, patch, module)
			if os.Getenv("RELEASE_CHECK") == "" {
				return
			}
			test := exec.CommandContext(t.Context(), "go", "test", "-overlay="+overlay, "-count=1", "-timeout=5m", "-run=TestSchedules", ".")
			test.Env = append(os.Environ(), "SCHEDULES=1000")
			told, _ := test.CombinedOutput()
			if !strings.Contains(string(told), "Alone again") {
				t.Errorf("1,000 schedules did not find it:\n%s", told)
			}
		})
	}
}

// overlayOf applies a patch to copies of files of the module. It returns the name of a file that has the go command
// take them in place of the files.
func overlayOf(t *testing.T, patch, module string) string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	text, err := os.ReadFile(patch)
	must(err)
	replace := map[string]string{}
	for _, name := range patched.FindAllStringSubmatch(string(text), -1) {
		original, err := filepath.Abs(filepath.Join(module, name[1]))
		must(err)
		source, err := os.ReadFile(original)
		must(err)
		replace[original] = filepath.Join(folder, name[1])
		must(os.MkdirAll(filepath.Dir(replace[original]), 0o700))
		must(os.WriteFile(replace[original], source, 0o600))
	}
	apply := exec.CommandContext(t.Context(), "git", "apply", "-")
	apply.Dir, apply.Stdin = folder, strings.NewReader(string(text))
	if told, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s", err, told)
	}
	text, err = json.Marshal(map[string]any{"Replace": replace})
	must(err)
	overlay := filepath.Join(folder, "overlay.json")
	must(os.WriteFile(overlay, text, 0o600))
	return overlay
}
