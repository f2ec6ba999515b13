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
}

func TestHelp(t *testing.T)                { underTest.CheckHelp(t) }
func TestWhatIsNeeded(t *testing.T)        { underTest.CheckNeeded(t) }
func TestArgumentsAreRefused(t *testing.T) { underTest.CheckArguments(t) }

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	underTest.CheckWrong(t, map[string]string{
		"READ_API_ADDR": "28082", "DATABASE_URL": "user:hunter2@tcp(localhost:3306)/", "READ_WAIT_TIMEOUT": "2", "READ_DATABASE_URL": "user:hunter2@tcp(localhost:3306)/",
		"TENANT_DATABASES":       "user:hunter2@tcp(localhost:3306)/acme",
		"QUERY_COMPLEXITY_LIMIT": "0", "LIVE_CONNECTION_LIMIT": "many", "WEBSOCKET_INIT_LIMIT": "0", "LOG_LEVEL": "loud", "LOG_FORMAT": "xml",
		"AUTH": "maybe", "AUTH_ISSUER": "login", "AUTH_CLOCK_SKEW": "1h", "AUTH_DEV_ADDR": "0.0.0.0:28084", "RATE_LIMIT_ADDRESS": "-1", "RATE_LIMIT_ACCOUNT": "many",
		"RATE_LIMIT_TENANT": "-1", "MIB_IN_FLIGHT": "0", "MIB_IN_FLIGHT_PER_CLIENT": "0", "ALLOWED_ORIGINS": "*", "CONNECTION_LIMIT": "0",
		"LIVE_CONNECTION_LIMIT_ACCOUNT": "0", "WEBSOCKET_OPERATION_LIMIT": "0", "COMPLEXITY_IN_FLIGHT": "0",
		"TRUSTED_PROXIES": "all", "METRICS_ADDR": "29080",
		"PPROF_ADDR": "26060", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318", "OTEL_TRACES_SAMPLER": "sometimes", "OTEL_TRACES_SAMPLER_ARG": "2",
	}, "hunter2")
}
