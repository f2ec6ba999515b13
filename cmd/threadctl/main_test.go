package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/program"
	"example.com/threads/tests/programtest"
	"example.com/threads/tests/sqlitetest"
)

// exitCode returns the exit code of the program.
func exitCode(err error) int {
	exit := program.ExitError{Code: 1}
	_ = errors.As(err, &exit)
	return exit.Code
}

// quiet is run without a terminal.
func quiet(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	return run(ctx, args, getenv, stdout, io.Discard)
}

var underTest = programtest.Program[settings]{
	Run:          quiet,
	ReadSettings: func(r *config.Reader) settings { _ = eventstore.ReadDatabaseURL(r); return readSettings(r) },
	Needed:       map[string]string{"DATABASE_URL": "sqlite:x.db"},
	More:         []map[string]string{{"EVENT_STORE": "mysql"}},
}

func TestHelp(t *testing.T) { underTest.CheckHelp(t) }

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	underTest.CheckWrong(t, map[string]string{
		"EVENT_STORE": "paper", "JOURNAL_TABLE": "one", "SNAPSHOT_TABLE": "one", "SHARD_COUNT": "0", "SNAPSHOT_EVERY": "often",
		"SNAPSHOT_KEEP": "-1", "SNAPSHOT_TTL": "3", "LOG_LEVEL": "loud", "LOG_FORMAT": "xml",
	}, "")
}

// allCommands are all commands, each with a wrong call.
var allCommands = map[string][]string{
	"":               {"now"},
	"journal":        {"journal"},
	"journal show":   {"journal", "show"},
	"journal check":  {"journal", "check", "one-1", "two-2"},
	"journal repair": {"journal", "repair", "--force", "one-1"},
	"snapshots":      {"snapshots", "now"},
	"snapshots due":  {"snapshots", "due", "one-1"},
	"snapshots take": {"snapshots", "take", "nothing"},

	"rows":               {"rows", "count"},
	"rows verify":        {"rows", "verify", "one-1", "two-2"},
	"dead-letters":       {"dead-letters"},
	"dead-letters list":  {"dead-letters", "list", "one-1"},
	"dead-letters show":  {"dead-letters", "show"},
	"dead-letters retry": {"dead-letters", "retry", "nothing"},
	"dead-letters skip":  {"dead-letters", "skip", "one-1"},
	"prune":              {"prune", "--older-than", "1s"}, // extra:chat
}

func TestEachCommandHasHelpAndKnowsAWrongCall(t *testing.T) {
	nothing := func(string) string { return "" }
	for words, badCall := range allCommands {
		var out, behind bytes.Buffer
		args := append(strings.Fields(words), "--help")
		if err := quiet(t.Context(), args, nothing, &out); err != nil {
			t.Errorf("%v: %v", args, err)
		}
		args = append(strings.Fields(words), "thread-01H42K4ABWQ5V2XQEP3A48VE0Z", "--json", "-h")
		if err := quiet(t.Context(), args, nothing, &behind); err != nil || behind.String() != out.String() {
			t.Errorf("%v: %v and:\n%s", args, err, behind.String())
		}
		told := []string{strings.TrimSpace("threadctl " + words)}
		// a group's help refers to the help of its commands
		if group := slices.Contains([]string{"journal", "snapshots", "rows", "dead-letters"}, words); !group {
			told = append(told, "EVENT_STORE_URL", "Exit code: 0")
		}
		for _, part := range told {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%v: %q is missing in:\n%s", args, part, out.String())
			}
		}
		if err := quiet(t.Context(), badCall, sqliteStore(t), io.Discard); exitCode(err) != 2 {
			t.Errorf("%v: %v", badCall, err)
		}
	}
}

// sqliteStore returns the environment of an empty event store and read model.
func sqliteStore(t *testing.T) func(string) string {
	t.Helper()
	url, _ := sqlitetest.New(t, system.Schemas()...)
	environment := map[string]string{"EVENT_STORE": "sqlite", "EVENT_STORE_URL": url, "DATABASE_URL": url}
	return func(name string) string { return environment[name] }
}

func TestAnEmptyStoreIsWell(t *testing.T) {
	getenv := sqliteStore(t)
	var out bytes.Buffer
	if err := quiet(t.Context(), []string{"journal", "check"}, getenv, &out); err != nil || out.String() != "checked: 0\nfindings: []\nok: true\nwrong: 0\n" {
		t.Errorf("%v and:\n%s", err, out.String())
	}
	for _, args := range [][]string{
		{"journal", "check", "--json"}, {"snapshots", "due", "--json"}, {"snapshots", "take", "--json"},
		{"rows", "verify", "--json"}, {"dead-letters", "list", "--json"}, {"dead-letters", "list", "--skipped", "--json"},
		{"dead-letters", "retry", "--json"},
		{"prune", "--older-than", "24h", "--json"}, // extra:chat
	} {
		out.Reset()
		if err := quiet(t.Context(), args, getenv, &out); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("%v: %v and:\n%s", args, err, out.String())
		}
	}
}

func TestAnUnknownAggregateIsAFailure(t *testing.T) {
	getenv, aid := sqliteStore(t), "thread-"+ulid.Make().String()
	for _, args := range [][]string{{"journal", "show", aid}, {"journal", "check", aid}, {"journal", "repair", aid}, {"snapshots", "take", aid},
		{"rows", "verify", aid}, {"dead-letters", "show", aid}, {"dead-letters", "retry", aid}, {"dead-letters", "skip", aid, "--reason", "r"},
		{"dead-letters", "show", aid, "--event", "E"}, {"dead-letters", "retry", aid, "--event", "E"},
		{"dead-letters", "skip", aid, "--event", "E", "--reason", "r", "--by", "b"}} {
		err := quiet(t.Context(), args, getenv, io.Discard)
		if exitCode(err) != 1 || !strings.Contains(err.Error(), aid) {
			t.Errorf("%v: %v", args, err)
		}
	}
	args := []string{"dead-letters", "retry", "--event", "E"}
	if err := quiet(t.Context(), args, getenv, io.Discard); exitCode(err) != 1 || !strings.Contains(err.Error(), `"E"`) {
		t.Errorf("%v: %v", args, err)
	}
}

func TestARetryOfNothingSaysSo(t *testing.T) {
	var out bytes.Buffer
	err := quiet(t.Context(), []string{"dead-letters", "retry", "--projection", "publisher"}, sqliteStore(t), &out)
	if want := "nothing to retry: in publisher no aggregate is parked and no command fails"; err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("%v, printed %q", err, out.String())
	}
}

func TestATypeThatDoesNotExistIsAWrongUsage(t *testing.T) {
	err := quiet(t.Context(), []string{"journal", "check", "--type", "typo"}, sqliteStore(t), io.Discard)
	if exitCode(err) != 2 || !strings.Contains(err.Error(), `"typo" is none of `) {
		t.Error(err)
	}
}

// A wrong path must not lead to an empty database, which would look as if all were well.
func TestAMissingFileIsNotMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.db")
	getenv := func(name string) string {
		return map[string]string{"EVENT_STORE": "sqlite", "EVENT_STORE_URL": "sqlite:" + file, "DATABASE_URL": "sqlite:" + file}[name]
	}
	for _, args := range [][]string{{"journal", "check"}, {"dead-letters", "list"}} {
		if err := quiet(t.Context(), args, getenv, io.Discard); exitCode(err) != 1 || !strings.Contains(err.Error(), file+`" does not exist`) {
			t.Errorf("%v: %v", args, err)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%v: the file is made", args)
		}
	}
}
