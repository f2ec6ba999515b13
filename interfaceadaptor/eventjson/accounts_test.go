package eventjson_test

import (
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/domain/writing"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/tests/codectest"
)

// All events and states in their current form.
var (
	registered    = account.Registered{Name: writing.RecordedName("Ada")}
	accountEvents = []account.Event{
		registered, account.Renamed{Name: writing.RecordedName("Ada & \"茶\" 🍵")}, account.Closed{},
		account.Erased{}, // extra:erasure
	}

	openAccount   = account.Account{}.Apply(registered)
	accountStates = map[string]account.Account{
		"snapshot-1.json": openAccount, "snapshot-1-closed.json": openAccount.Apply(account.Closed{}),
		"snapshot-1-erased.json": openAccount.Apply(account.Erased{}), // extra:erasure
	}
)

func TestAccountEvents(t *testing.T) {
	codectest.Events(t, "example.com/threads/domain/account", eventjson.Accounts().Events, codectest.Executor, accountEvents...)
}

func TestAccountSnapshots(t *testing.T) {
	codectest.Snapshots(t, "account", eventjson.Accounts().Snapshots, codectest.Executor, accountStates)
}
