package dev_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/threads/tools/devservices/internal/dev"
)

func clone(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestSettings(t *testing.T) {
	root := clone(t)
	settings, err := dev.ReadSettings(root, func(name string) string {
		return map[string]string{"DEV_MYSQL_PORT": "3307", "READ_API_ADDR": "127.0.0.1:9000"}[name]
	})
	want := dev.Settings{
		Root: root, DynamoDBPort: 28000, MySQLPort: 3307,
		WriteAPI: ":28080", Updater: ":28081", ReadAPI: "127.0.0.1:9000",
	}
	if err != nil || settings != want {
		t.Errorf("read %+v, %v", settings, err)
	}
	if _, err := dev.ReadSettings(root, func(string) string { return "x" }); err == nil {
		t.Error("no error for unusable ports")
	}
	if _, err := dev.ReadSettings(t.TempDir(), func(string) string { return "" }); err == nil {
		t.Error("no error outside of a clone")
	}
}

func TestHintsNameTheAddresses(t *testing.T) {
	settings, err := dev.ReadSettings(clone(t), func(name string) string {
		return map[string]string{"WRITE_API_ADDR": "0.0.0.0:9001"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := settings.Hints(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"curl -s http://127.0.0.1:9001/threads/post_message", "curl -s http://127.0.0.1:28082/graphql",
		"http://127.0.0.1:28000", "127.0.0.1:23306", "data/dev",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out.String())
		}
	}
}
