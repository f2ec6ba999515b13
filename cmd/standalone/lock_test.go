// extra:whole

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two programs on one folder would overwrite each other's rows. The second is refused, however it reaches the files.
func TestOneProgramAFolder(t *testing.T) {
	env := environment(t)
	folder := env["DATA_DIR"]
	link := func(to, from string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(from), 0o755), os.Symlink(to, from)); err != nil {
			t.Fatal(err)
		}
	}
	others := filepath.Join(t.TempDir(), "others")
	link(folder, filepath.Join(others, "folder"))
	for _, name := range []string{eventsFile, readModelFile} {
		link(filepath.Join(folder, name), filepath.Join(others, "of "+name, name))
	}
	running := start(t, map[string]string{"DATA_DIR": folder})
	for _, other := range []string{folder, filepath.Join(others, "folder"), filepath.Join(others, "of "+eventsFile), filepath.Join(others, "of "+readModelFile)} {
		second := environment(t)
		second["DATA_DIR"] = other
		said, err := startAndStop(t, second)
		if err == nil || !strings.Contains(err.Error(), "another running standalone program uses the data in "+other) || !strings.Contains(err.Error(), "set DATA_DIR to another folder") {
			t.Errorf("%s: got %v; it said %s", other, err, said)
		}
	}
	running.post(t, "/threads/create", fmt.Sprintf(`{"executor_id":%q,"name":"tea"}`, ada), 201)
	if err := running.stop(); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{folder, filepath.Join(others, "folder")} {
		again := environment(t)
		again["DATA_DIR"] = other
		if _, err := startAndStop(t, again); err != nil {
			t.Errorf("%s, when nobody uses it any more: %v", other, err)
		}
	}
}

// A link to a file that is missing leads to where the file is created.
func TestTheLockIsBesideTheFile(t *testing.T) {
	env := environment(t)
	elsewhere := t.TempDir()
	if err := errors.Join(os.MkdirAll(env["DATA_DIR"], 0o755), os.Symlink(filepath.Join(elsewhere, "events"), filepath.Join(env["DATA_DIR"], eventsFile))); err != nil {
		t.Fatal(err)
	}
	if _, err := startAndStop(t, env); err != nil {
		t.Fatal(err)
	}
	expectEntries(t, elsewhere, "events", "events.lock")
}
