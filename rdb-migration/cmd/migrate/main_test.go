package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func migrate(t *testing.T, environment map[string]string, args ...string) (said string, err error) {
	t.Helper()
	var out bytes.Buffer
	err = run(t.Context(), args, func(name string) string { return environment[name] }, &out)
	return out.String(), err
}

func TestRun(t *testing.T) {
	environment := map[string]string{"DATABASE_URL": "sqlite:" + filepath.Join(t.TempDir(), "rows.db")}
	if said, err := migrate(t, environment, "--help"); err != nil || !strings.Contains(said, "DATABASE_URL") {
		t.Errorf("the help: %v and %q", err, said)
	}
	for _, want := range []string{"read model: applied 00001", "read model: nothing to do"} {
		if said, err := migrate(t, environment, "up"); err != nil || !strings.Contains(said, want) || strings.Contains(said, "event store") {
			t.Errorf("%v and %q; want %q", err, said, want)
		}
	}
}

func TestEventStoreComesAlongWhereItIsRelational(t *testing.T) {
	folder := t.TempDir()
	said, err := migrate(t, map[string]string{
		"EVENT_STORE": "sqlite", "EVENT_STORE_URL": "sqlite:" + filepath.Join(folder, "events.db"),
		"DATABASE_URL": "sqlite:" + filepath.Join(folder, "rows.db"),
	})
	if err != nil || !strings.Contains(said, "event store: applied 00001") || !strings.Contains(said, "read model: applied 00001") {
		t.Errorf("%v and %q", err, said)
	}
}

func TestErrorsSayWhatIsExpected(t *testing.T) {
	rows := "sqlite:" + filepath.Join(t.TempDir(), "rows.db")
	for want, environment := range map[string]map[string]string{
		"DATABASE_URL is":    {},
		"EVENT_STORE_URL is": {"DATABASE_URL": rows, "EVENT_STORE": "sqlite"},
		// It must not pass as a store without migrations.
		"EVENT_STORE is": {"DATABASE_URL": rows, "EVENT_STORE": "mariadb"},
	} {
		if _, err := migrate(t, environment); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v; want %q", environment, err, want)
		}
	}
	if _, err := migrate(t, map[string]string{"DATABASE_URL": rows}, "down"); err == nil || !strings.Contains(err.Error(), "takes no arguments") {
		t.Errorf("an argument: %v", err)
	}
}
