package install_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/threads/tools/devservices/internal/install"
)

func TestLockHasOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "lock")
	unlock, err := install.Lock(t.Context(), path, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := install.TryLock(path); !errors.Is(err, install.ErrLocked) {
		t.Errorf("the second holder got %v", err)
	}
	waiting := make(chan struct{}, 1)
	next := make(chan error, 1)
	go func() {
		unlock, err := install.Lock(t.Context(), path, func(string, ...any) { waiting <- struct{}{} })
		if err == nil {
			unlock()
		}
		next <- err
	}()
	<-waiting
	unlock()
	if err := <-next; err != nil {
		t.Errorf("the one who waited got %v", err)
	}
}

func TestUntar(t *testing.T) {
	archive := packed(t, map[string]string{"package/lib/a.jar": "A", "package/README": "left out"})
	folder := t.TempDir()
	cut := func(path string) string {
		rest, found := strings.CutPrefix(path, "package/lib/")
		if !found {
			return ""
		}
		return rest
	}
	if err := install.Untar(archive, folder, cut); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(filepath.Join(folder, "a.jar")); err != nil || string(content) != "A" {
		t.Errorf("a.jar holds %q, %v", content, err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("unpacked %v, %v", entries, err)
	}
}

func TestUntarStaysInItsFolder(t *testing.T) {
	archive := packed(t, map[string]string{"../escaped": "!"})
	folder := filepath.Join(t.TempDir(), "in")
	if err := install.Untar(archive, folder, func(path string) string { return path }); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(filepath.Join(folder, "..", "escaped")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
}

func packed(t *testing.T, files map[string]string) *bytes.Buffer {
	t.Helper()
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zipped)
	for name, content := range files {
		header := &tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(content)), Mode: 0o644}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return &buffer
}
