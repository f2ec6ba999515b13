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

func TestHelpTellsOfEveryVariable(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, func(string) string { return "" }, &out); err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{"AWS_REGION": true} // this one is read by the SDK alone
	if _, err := readSettings(func(name string) string { read[name] = true; return "" }); err != nil {
		t.Fatalf("nothing set is not enough: %v", err)
	}
	_, _ = readSettings(func(name string) string { // with another store, others are read
		read[name] = true
		return map[string]string{"EVENT_STORE": "mysql"}[name]
	})
	told := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^  ([A-Z_]+)  .*\(.+\)$`).FindAllStringSubmatch(out.String(), -1) {
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
	defaults := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^  ([A-Z_]+)  .*\(([^\s:)]*|:\d+)[:)]`).FindAllStringSubmatch(usage, -1) {
		if value := match[2]; value != "none" && value != "AWS" {
			defaults[match[1]] = value
		}
	}
	if len(defaults) != 11 {
		t.Fatalf("read %v", defaults)
	}
	unset, err := readSettings(func(string) string { return "" })
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
		"WRITE_API_ADDR": "28080", "EVENT_STORE": "paper", "JOURNAL_TABLE": "one", "SNAPSHOT_TABLE": "one", "SHARD_COUNT": "0",
		"SNAPSHOT_EVERY": "often", "SNAPSHOT_KEEP": "-1", "SNAPSHOT_TTL": "3", "STORE_TIMEOUT": "1h", "TRUSTED_PROXIES": "all",
		"LOG_LEVEL": "loud", "LOG_FORMAT": "xml", "AWS_ENDPOINT_URL_DYNAMODB": "localhost",
	}
	_, err := readSettings(func(name string) string { return wrong[name] })
	for name := range wrong {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in %v", name, err)
		}
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
