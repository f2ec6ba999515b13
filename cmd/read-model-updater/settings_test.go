// extra:whole

package main

import (
	"testing"

	"example.com/threads/tests/programtest"
)

var underTest = programtest.Program[settings]{
	Run:          run,
	ReadSettings: readSettings,
	Needed:       map[string]string{"DATABASE_URL": "sqlite:x.db"},
	More:         []map[string]string{{"EVENT_STORE": "mysql"}},
}

func TestHelp(t *testing.T)                { underTest.CheckHelp(t) }
func TestWhatIsNeeded(t *testing.T)        { underTest.CheckNeeded(t) }
func TestArgumentsAreRefused(t *testing.T) { underTest.CheckArguments(t) }

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	underTest.CheckWrong(t, map[string]string{
		"TENANT_DATABASES": "user:hunter2@tcp(localhost:3306)/acme",
		"UPDATER_ADDR":     "28081", "DATABASE_URL": "user:hunter2@tcp(localhost:3306)/", "EVENT_STORE": "paper",
		"JOURNAL_TABLE": "one", "SNAPSHOT_TABLE": "one", "SHARD_COUNT": "0", "CLOCK_TOLERANCE": "1s",
		"STREAM_POLL_MIN": "2s", "STREAM_POLL_MAX": "1s", "STREAM_PAGE_LIMIT": "1001", "STREAM_DISCOVERY_INTERVAL": "1ms",
		"STREAM_CONCURRENCY": "none", "LOG_LEVEL": "loud", "LOG_FORMAT": "xml",
		"METRICS_ADDR": "29080",
		"PPROF_ADDR":   "26060", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318", "OTEL_TRACES_SAMPLER": "sometimes", "OTEL_TRACES_SAMPLER_ARG": "2",
		"AWS_ENDPOINT_URL_DYNAMODB": "localhost", "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": "localhost",
	}, "hunter2")
}
