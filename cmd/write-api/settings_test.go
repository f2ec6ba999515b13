// extra:whole

package main

import (
	"testing"

	"example.com/threads/tests/programtest"
)

var underTest = programtest.Program[settings]{
	Run:          run,
	ReadSettings: readSettings,
	More:         []map[string]string{{"EVENT_STORE": "mysql"}},
}

func TestHelp(t *testing.T)                { underTest.CheckHelp(t) }
func TestArgumentsAreRefused(t *testing.T) { underTest.CheckArguments(t) }

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	underTest.CheckWrong(t, map[string]string{
		"WRITE_API_ADDR": "28080", "EVENT_STORE": "paper", "JOURNAL_TABLE": "one", "SNAPSHOT_TABLE": "one", "SHARD_COUNT": "0", "CLOCK_TOLERANCE": "1s",
		"SNAPSHOT_EVERY": "often", "SNAPSHOT_KEEP": "-1", "SNAPSHOT_TTL": "3", "STORE_TIMEOUT": "1h", "TRUSTED_PROXIES": "all",
		"LOG_LEVEL": "loud", "LOG_FORMAT": "xml", "AWS_ENDPOINT_URL_DYNAMODB": "localhost",
		"AUTH": "maybe", "AUTH_ISSUER": "login", "AUTH_CLOCK_SKEW": "1h", "AUTH_DEV_ADDR": "0.0.0.0:28084", "RATE_LIMIT_ADDRESS": "-1", "RATE_LIMIT_ACCOUNT": "many",
		"RATE_LIMIT_TENANT": "-1", "MIB_IN_FLIGHT": "0", "MIB_IN_FLIGHT_PER_CLIENT": "0", "ALLOWED_ORIGINS": "*", "CONNECTION_LIMIT": "0",
		"METRICS_ADDR": "29080",
		"PPROF_ADDR":   "26060", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318", "OTEL_TRACES_SAMPLER": "sometimes", "OTEL_TRACES_SAMPLER_ARG": "2",
	}, "")
}

// TestTheURLOfAnEventStore is about URLs of another kind of database than EVENT_STORE, and about no database at all.
func TestTheURLOfAnEventStore(t *testing.T) {
	for kind, urls := range map[string][]string{
		"mysql":  {"", "sqlite:data/events.db", "root:hunter2@tcp(localhost:3306)/", "hunter2"},
		"sqlite": {"", "root:hunter2@tcp(localhost:3306)/threads", "sqlite:", "hunter2"},
	} {
		for _, url := range urls {
			underTest.CheckWrong(t, map[string]string{"EVENT_STORE": kind, "EVENT_STORE_URL": url}, "hunter2")
		}
	}
}
