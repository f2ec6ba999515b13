package archive_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/threads/extras/archive"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
)

func TestTheFolderMustBeThere(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, is := range map[string]bool{"": true, folder: true, file: false, filepath.Join(folder, "none"): false} {
		read, err := config.Read(func(string) string { return path }, archive.ReadFolder)
		if is && (err != nil || string(read) != path) || !is && (err == nil || !strings.Contains(err.Error(), "ARCHIVE_DIR")) {
			t.Errorf("%q: %q, %v", path, read, err)
		}
	}
	archive.Folder(folder).Behind(nil) // a store that could not be opened
	store := &eventstore.Store{}
	if archive.Folder("").Behind(store); store.Gateway != nil {
		t.Error("there is an archive without a folder")
	}
	if archive.Folder(folder).Behind(store); store.Gateway == nil {
		t.Error("there is no archive")
	}
}
