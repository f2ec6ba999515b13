// extra:whole

package main

import (
	"testing"

	"example.com/threads/tests/programtest"
)

var underTest = programtest.Program[settings]{Run: run, ReadSettings: readSettings}

func TestHelp(t *testing.T)                { underTest.CheckHelp(t) }
func TestArgumentsAreRefused(t *testing.T) { underTest.CheckArguments(t) }

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	underTest.CheckWrong(t, map[string]string{
		"WRITE_API_ADDR": "28080", "UPDATER_ADDR": "28081", "READ_API_ADDR": "28082", "WEB_ADDR": "28083", "WEB_URL": "page", "SNAPSHOT_EVERY": "often", "STORE_TIMEOUT": "1h",
		"TRUSTED_PROXIES": "all", "READ_WAIT_TIMEOUT": "2", "QUERY_COMPLEXITY_LIMIT": "0", "LIVE_CONNECTION_LIMIT": "many", "WEBSOCKET_INIT_LIMIT": "0",
		"LOG_LEVEL": "loud", "LOG_FORMAT": "xml",
		"AUTH": "maybe", "AUTH_ISSUER": "login", "AUTH_CLOCK_SKEW": "1h", "AUTH_DEV_ADDR": "0.0.0.0:28084", "RATE_LIMIT_ADDRESS": "-1", "RATE_LIMIT_ACCOUNT": "many",
		"RATE_LIMIT_TENANT": "-1", "MIB_IN_FLIGHT": "0", "MIB_IN_FLIGHT_PER_CLIENT": "0", "ALLOWED_ORIGINS": "*", "CONNECTION_LIMIT": "0",
		"LIVE_CONNECTION_LIMIT_ACCOUNT": "0", "WEBSOCKET_OPERATION_LIMIT": "0", "COMPLEXITY_IN_FLIGHT": "0",
	}, "")
}
