// extra:whole

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two programs on one folder would overwrite each other's rows. The second is refused, however it reaches the folder.
func TestOneProgramAFolder(t *testing.T) {
	env := environment(t)
	folder := env["DATA_DIR"]
	link := filepath.Join(t.TempDir(), "folder")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	running := start(t, map[string]string{"DATA_DIR": folder})
	for _, other := range []string{folder, link} {
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
	for _, other := range []string{folder, link} {
		again := environment(t)
		again["DATA_DIR"] = other
		if _, err := startAndStop(t, again); err != nil {
			t.Errorf("%s, when nobody uses it any more: %v", other, err)
		}
	}
}
