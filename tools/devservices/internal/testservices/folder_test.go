package testservices

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/threads/tools/devservices/internal/install"
)

func TestRemoveLeftovers(t *testing.T) {
	parent := t.TempDir()
	folder := func(name string, age time.Duration) string {
		path := filepath.Join(parent, name)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		unlock, err := install.TryLock(filepath.Join(path, lockFile))
		if err != nil {
			t.Fatal(err)
		}
		unlock()
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	left := folder("threads-test-1", time.Hour)
	young := folder("threads-test-2", 0)
	strange := folder("somebody-elses", time.Hour)
	alive := folder("threads-test-3", time.Hour)
	unlock, err := install.TryLock(filepath.Join(alive, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()

	if err := removeLeftovers(parent); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a killed run left is still there: %v", err)
	}
	for _, path := range []string{young, strange, alive} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("removed: %v", err)
		}
	}
}
