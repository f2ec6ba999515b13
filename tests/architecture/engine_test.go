package architecture_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/threads/tests/architecture"
)

func TestTheEngineKnowsNoApplication(t *testing.T) {
	words, err := architecture.ForeignWords("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range words {
		t.Errorf("%s: the engine has a word of the application", word)
	}
	// Check that violations are detected.
	folder := t.TempDir()
	for _, part := range architecture.Engine {
		if err := os.MkdirAll(filepath.Join(folder, part), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const source = "package command\n\nvar threadID, groupMember, member = 1, 2, \"messages\"\n\nvar remember, spread = 1, 2\n"
	if err := os.WriteFile(filepath.Join(folder, "es/made.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if words, err := architecture.ForeignWords(folder); len(words) != 4 || err != nil {
		t.Errorf("found %q, %v", words, err)
	}
}
