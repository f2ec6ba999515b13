package main

import (
	"strings"
	"testing"

	"example.com/threads/infrastructure/config"
	"example.com/threads/tests/programtest"
)

var underTest = programtest.Program[settings]{Run: run, ReadSettings: readSettings}

func TestHelp(t *testing.T)                { underTest.CheckHelp(t) }
func TestArgumentsAreRefused(t *testing.T) { underTest.CheckArguments(t) }

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	underTest.CheckWrong(t, map[string]string{
		"WEB_ADDR": "28083", "WEB_URL": "localhost", "WRITE_API_URL": "http://127.0.0.1:28080/api", "READ_API_URL": "http://user:hunter2@127.0.0.1",
		"UPDATER_URL": "ftp://127.0.0.1", "AUTH": "maybe", "LOG_LEVEL": "loud",
	}, "hunter2")
}

func TestTheHelpListsOnlyWhatHasAnEffectHere(t *testing.T) {
	for line := range strings.Lines(config.Help(readSettings)) {
		for _, name := range []string{"RATE_LIMIT_ACCOUNT", "RATE_LIMIT_TENANT", "MIB_IN_FLIGHT", "TENANTS"} {
			if strings.Contains(line, name) {
				t.Errorf("the APIs' setting %s is in %s", name, line)
			}
		}
	}
}
