package erasure_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/threads/extras/erasure"
)

func encoded(fill byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, 32))
}

func parse(t *testing.T, text string) erasure.LocalMaster {
	t.Helper()
	local, err := erasure.ParseMaster(text)
	if err != nil {
		t.Fatal(err)
	}
	return local
}

// check wraps and unwraps a key, and returns the wrapped form.
func check(t *testing.T, m erasure.Master) []byte {
	t.Helper()
	key := bytes.Repeat([]byte("k"), 32)
	wrapped, err := m.Wrap(t.Context(), key, "acme/ada")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(wrapped, key) {
		t.Error("the wrapped key contains the key")
	}
	if got, err := m.Unwrap(t.Context(), wrapped, "acme/ada"); err != nil || !bytes.Equal(got, key) {
		t.Errorf("unwrapped %q, %v", got, err)
	}
	if _, err := m.Unwrap(t.Context(), wrapped, "acme/bob"); err == nil {
		t.Error("a key was unwrapped for another owner")
	}
	return wrapped
}

func TestLocal(t *testing.T) {
	old := parse(t, encoded(1))
	wrapped := check(t, old)
	rotated := parse(t, encoded(2)+"\n"+encoded(1)+"\n")
	check(t, rotated)
	if _, err := rotated.Unwrap(t.Context(), wrapped, "acme/ada"); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
	if _, err := parse(t, encoded(3)).Unwrap(t.Context(), wrapped, "acme/ada"); err == nil || !strings.Contains(err.Error(), "add that one") {
		t.Errorf("with another master key: %v", err)
	}
	for _, text := range []string{"", " \n", "short", encoded(1)[:40], encoded(1) + " secret-that-must-not-show"} {
		if _, err := erasure.ParseMaster(text); err == nil || strings.Contains(err.Error(), "secret-that") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAFileIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "erasure.key")
	if _, err := erasure.ReadMaster(path, false); err == nil {
		t.Error("a missing file was read")
	}
	made, err := erasure.ReadMaster(path, true)
	if err != nil {
		t.Fatal(err)
	}
	wrapped := check(t, made)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	again, err := erasure.ReadMaster(path, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Unwrap(t.Context(), wrapped, "acme/ada"); err != nil {
		t.Errorf("with the existing file: %v", err)
	}
}
