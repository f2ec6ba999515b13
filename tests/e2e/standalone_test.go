package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// If the read model's file is missing, the next start must rebuild it from the events.
func TestTheReadModelIsMadeAgain(t *testing.T) {
	if os.Getenv(writeAPIVar) != "" {
		t.Skipf("left out: this test deletes files of a program of its own, and %s names running ones", writeAPIVar)
	}
	s := oneProcess(t)
	ada := s.person("acme")
	thread := ada.command(t, "/threads/create", fields{"name": "again"}).text("thread_id")
	var last answer
	for _, text := range []string{"1", "2", "3"} {
		last = ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": text})
	}
	before := ada.view(t, thread, token(last))
	s.writer.Stop(t)
	files, err := filepath.Glob(filepath.Join(s.folder, "readmodel.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	s.writer.Start(t)
	if diff := cmp.Diff(before, ada.view(t, thread, token(last))); diff != "" {
		t.Error("the thread before and after (-before +after):\n" + diff)
	}
	if text, err := os.ReadFile(s.writer.Log); err != nil || strings.Contains(string(text), "ERROR") {
		t.Errorf("the log contains errors, or can't be read: %v", err)
	}
}
