package account_test

import (
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/sealed"
)

// Every command must be decided in every state, and every event and rejection must occur. A new one that the tests lack
// is named here.
func TestNothingIsForgotten(t *testing.T) {
	commands := []account.Command{
		account.Register{Name: ada}, account.Rename{Name: countess}, account.Rename{Name: ada}, account.Close{},
		account.Erase{}, // extra:erasure
	}
	states := []account.Account{
		{}, accounts.After(registered), accounts.After(registered, closed),
		accounts.After(erased), // extra:erasure
	}
	seen := kit.Try(account.Decide, states, commands)
	const pkg = "example.com/threads/domain/account"
	declared := sealed.Calls(t, pkg, "ident", "NotFound", "Forbidden", "Conflict")
	sealed.Check(t, "commands of this test", sealed.Types(t, pkg, "name"), seen.Commands)
	sealed.Check(t, "events that follow in this test", sealed.Types(t, pkg, "isEvent"), seen.Events)
	sealed.Check(t, "rejections of this test", declared, seen.Codes)
	for _, command := range commands {
		if got := account.CommandName(command); got != "account."+sealed.Name(command) {
			t.Errorf("%T is called %q: its repeats would not be recognised", command, got)
		}
	}
}
