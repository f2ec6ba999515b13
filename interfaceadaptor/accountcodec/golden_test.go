package accountcodec_test

import (
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/domain/writing"
	"example.com/threads/interfaceadaptor/accountcodec"
	"example.com/threads/tests/codectest"
)

// All events and states in their current form.
var (
	registered = account.Registered{Name: writing.RecordedName("Ada")}
	today      = []account.Event{registered, account.Renamed{Name: writing.RecordedName("Ada & \"茶\" 🍵")}, account.Closed{}, account.Erased{}}

	open   = account.Account{}.Apply(registered)
	states = map[string]account.Account{"snapshot-1.json": open, "snapshot-1-closed.json": open.Apply(account.Closed{}), "snapshot-1-erased.json": open.Apply(account.Erased{})}
)

func TestEvents(t *testing.T) {
	codectest.Events(t, "example.com/threads/domain/account", accountcodec.Events(), codectest.Executor, today...)
}

func TestSnapshots(t *testing.T) {
	codectest.Snapshots(t, accountcodec.Snapshots{}, codectest.Executor, states)
}
