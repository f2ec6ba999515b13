package main

import (
	"testing"

	"example.com/threads/cmd/internal/program/programtest"
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
		"READ_API_ADDR": "28082", "DATABASE_URL": "user:hunter2@tcp(localhost:3306)/", "READ_WAIT_TIMEOUT": "2",
		"QUERY_COMPLEXITY_LIMIT": "0", "LIVE_CONNECTION_LIMIT": "many", "WEBSOCKET_INIT_LIMIT": "0", "LOG_LEVEL": "loud", "LOG_FORMAT": "xml",
	}, "hunter2")
}
