package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// numbers returns the numbers of the migrations in a folder, in their order.
func numbers(t *testing.T, folder string) (numbers []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", folder, "sqlite", "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d migrations in %s, %v", len(files), folder, err)
	}
	for _, file := range files {
		number, _, _ := strings.Cut(filepath.Base(file), "_")
		numbers = append(numbers, number)
	}
	return numbers
}

func TestRun(t *testing.T) {
	environment := map[string]string{"DATABASE_URL": "sqlite:" + filepath.Join(t.TempDir(), "rows.db")}
	run := func(args, want string) (done bool) {
		t.Helper()
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields(args), func(name string) string { return environment[name] }, &out)
		if done = err == nil && strings.Contains(out.String(), want); !done {
			t.Errorf("%s: %v and %q; want %q", args, err, out.String(), want)
		}
		return done
	}
	for _, step := range []struct{ args, want string }{
		{"--help", "DATABASE_URL"},
		{"status", "pending 00001"},
		{"up", "applied 00001"},
		{"up", "nothing to do"},
		{"status", "applied 00001"},
	} {
		run(step.args, step.want)
	}
	for applied := len(appliedIn(t, environment)); applied > 0; applied-- {
		run("down", "took ")
	}
	run("down", "nothing to revert")
}

// appliedIn returns the migrations that are applied, as lines.
func appliedIn(t *testing.T, environment map[string]string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"status"}, func(name string) string { return environment[name] }, &out); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

func TestEventStoreComesAlongWhereItIsRelational(t *testing.T) {
	folder := t.TempDir()
	events := numbers(t, "es/sqlstore/migrations")
	environment := map[string]string{
		"EVENT_STORE": "sqlite", "EVENT_STORE_URL": "sqlite:" + filepath.Join(folder, "events.db"),
		"DATABASE_URL": "sqlite:" + filepath.Join(folder, "rows.db"),
	}
	for _, step := range []struct{ args, want, not string }{
		{"up", "event store: applied 00001", "nothing to do"},
		{"down readmodel", ": took ", "event store"},
		{"status", "event store: applied 00001", "event store: pending"},
		{"up readmodel", ": applied ", "event store"},
		{"down eventstore", "event store: took " + events[len(events)-1], "read model"},
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields(step.args), func(name string) string { return environment[name] }, &out)
		if err != nil || !strings.Contains(out.String(), step.want) || strings.Contains(out.String(), step.not) {
			t.Errorf("%s: %v and %q; want %q and not %q", step.args, err, out.String(), step.want, step.not)
		}
	}
}

func TestErrorsSayWhatIsExpected(t *testing.T) {
	for args, want := range map[string]string{"": "up, down, status", "sideways": "up, down, status", "up": "DATABASE_URL", "up eventstore": "EVENT_STORE_URL", "up all": "not readmodel or eventstore"} {
		err := run(t.Context(), strings.Fields(args), func(string) string { return "" }, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", args, err, want)
		}
	}
}

// An invalid EVENT_STORE must not pass as a store without migrations.
func TestAnEventStoreThatIsNone(t *testing.T) {
	environment := map[string]string{"DATABASE_URL": "sqlite:" + filepath.Join(t.TempDir(), "rows.db"), "EVENT_STORE": "mariadb"}
	err := run(t.Context(), []string{"up"}, func(name string) string { return environment[name] }, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "EVENT_STORE is") {
		t.Errorf("got %v", err)
	}
}
