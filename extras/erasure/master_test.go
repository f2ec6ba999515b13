package erasure_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/threads/extras/erasure"
	"example.com/threads/extras/erasure/keystoretest"
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

func TestLocal(t *testing.T) {
	old := parse(t, encoded(1))
	wrapped := keystoretest.Master(t, old)
	rotated := parse(t, encoded(2)+"\n"+encoded(1)+"\n")
	keystoretest.Master(t, rotated)
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
	wrapped := keystoretest.Master(t, made)
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
