package main

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"example.com/threads/cmd/internal/program"
)

// onlyDatabase is an environment where nothing is set but what has to be.
func onlyDatabase(name string) string {
	if name == "DATABASE_URL" {
		return "sqlite:x.db"
	}
	return ""
}

func TestHelpTellsOfEveryVariable(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, func(string) string { return "" }, &out); err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{"AWS_REGION": true} // this one is read by the SDK alone
	if _, err := readSettings(func(name string) string { read[name] = true; return onlyDatabase(name) }); err != nil {
		t.Fatalf("the database alone is not enough: %v", err)
	}
	_, _ = readSettings(func(name string) string { // with another store, others are read
		read[name] = true
		return map[string]string{"EVENT_STORE": "mysql"}[name]
	})
	told := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^  ([A-Z_]+)  .*\(.+\).*$`).FindAllStringSubmatch(out.String(), -1) {
		told[match[1]] = true
	}
	for name := range read {
		if !told[name] {
			t.Errorf("%s is not told, or not what holds without it", name)
		}
	}
	for name := range told {
		if !read[name] {
			t.Errorf("%s is told and not read", name)
		}
	}
}

// TestHelpTellsTheDefaults sets each variable to what the help says holds without it: nothing may change.
func TestHelpTellsTheDefaults(t *testing.T) {
	defaults := map[string]string{"DATABASE_URL": onlyDatabase("DATABASE_URL")}
	for _, match := range regexp.MustCompile(`(?m)^  ([A-Z_]+)  .*\(([^\s:)]*|:\d+)\)`).FindAllStringSubmatch(usage, -1) {
		if value := match[2]; value != "none" && value != "AWS" {
			defaults[match[1]] = value
		}
	}
	if len(defaults) != 14 {
		t.Fatalf("read %v", defaults)
	}
	unset, err := readSettings(onlyDatabase)
	if err != nil {
		t.Fatal(err)
	}
	set, err := readSettings(func(name string) string { return defaults[name] })
	if err != nil {
		t.Fatal(err)
	}
	if without, told := comparableOf(unset), comparableOf(set); without != told {
		t.Errorf("without: %s\nas told: %s", without, told)
	}
}

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	wrong := map[string]string{
		"UPDATER_ADDR": "28081", "DATABASE_URL": "user:hunter2@tcp(localhost:3306)/", "EVENT_STORE": "paper",
		"JOURNAL_TABLE": "one", "SNAPSHOT_TABLE": "one", "SHARD_COUNT": "0",
		"STREAM_POLL_MIN": "2s", "STREAM_POLL_MAX": "1s", "STREAM_PAGE_LIMIT": "1001", "STREAM_DISCOVERY_INTERVAL": "1ms",
		"STREAM_CONCURRENCY": "none", "LOG_LEVEL": "loud", "LOG_FORMAT": "xml",
		"AWS_ENDPOINT_URL_DYNAMODB": "localhost", "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": "localhost",
	}
	_, err := readSettings(func(name string) string { return wrong[name] })
	for name := range wrong {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in %v", name, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the password is in the error: %v", err)
	}
}

func TestArgumentsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"serve"}, {"-port", "1"}} {
		if err := run(t.Context(), args, func(string) string { return "" }, nil); !errors.Is(err, program.ErrUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// comparableOf is the settings as text, without the clock, which is a function.
func comparableOf(s settings) string {
	s.store.DynamoDB.Clock = nil
	return fmt.Sprintf("%+v", s)
}
