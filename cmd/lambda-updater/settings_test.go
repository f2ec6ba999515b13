// extra:whole

package main

import (
	"io"
	"strings"
	"testing"

	"example.com/threads/tests/programtest"
)

var underTest = programtest.Program[settings]{
	Run:          start,
	ReadSettings: readSettings,
	Needed:       map[string]string{"DATABASE_URL": "sqlite:x.db"},
}

func TestHelp(t *testing.T)                { underTest.CheckHelp(t) }
func TestWhatIsNeeded(t *testing.T)        { underTest.CheckNeeded(t) }
func TestArgumentsAreRefused(t *testing.T) { underTest.CheckArguments(t) }

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	underTest.CheckWrong(t, map[string]string{
		"DATABASE_URL": "user:hunter2@tcp(localhost:3306)/", "EVENT_STORE": "mysql", "JOURNAL_TABLE": "one", "SNAPSHOT_TABLE": "one",
		"SHARD_COUNT": "0", "CLOCK_TOLERANCE": "1s", "LOG_LEVEL": "loud", "LOG_FORMAT": "xml", "AWS_ENDPOINT_URL_DYNAMODB": "localhost",
	}, "hunter2")
}

func TestItSaysThatItNeedsLambda(t *testing.T) {
	err := start(t.Context(), nil, func(name string) string { return underTest.Needed[name] }, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "AWS_LAMBDA_RUNTIME_API") {
		t.Errorf("outside of Lambda: %v", err)
	}
}
