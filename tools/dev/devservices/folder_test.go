package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

func TestRemoveLeftovers(t *testing.T) {
	parent := t.TempDir()
	folder := func(name string, age time.Duration) string {
		path := filepath.Join(parent, name)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, lockFile), nil, 0o600); err != nil {
			t.Fatal(err)
		}
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
	lock := flock.New(filepath.Join(alive, lockFile))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })

	if err := removeLeftovers(parent); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a killed run is still there: %v", err)
	}
	for _, path := range []string{young, strange, alive} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("removed: %v", err)
		}
	}
}
