package account_test

import (
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/tests/sealed"
)

const pkg = "example.com/threads/domain/account"

// Whatever is added to the domain, and forgotten somewhere, is named here: every command in every state, and what
// follows.
func TestNothingIsForgotten(t *testing.T) {
	commands := []account.Command{account.Register{Name: ada}, account.Rename{Name: countess}, account.Rename{Name: ada}, account.Close{}}
	var wanted, events, codes, listed []string
	for _, state := range []account.Account{{}, accounts.After(registered), accounts.After(registered, closed)} {
		for _, command := range commands {
			wanted = append(wanted, sealed.Name(command))
			followed, err := account.Decide(state, command)
			for _, event := range followed {
				events = append(events, sealed.Name(event))
			}
			if err != nil {
				codes = append(codes, err.(*ident.Rejection).Code()) //nolint:errorlint // it is the very value
			}
			if got := account.CommandName(command); got != "account."+sealed.Name(command) {
				t.Errorf("%T is called %q: its repeats would not be recognised", command, got)
			}
		}
	}
	for _, err := range account.Rejections() {
		listed = append(listed, err.(*ident.Rejection).Code()) //nolint:errorlint // it is the very value
	}
	sealed.Check(t, "commands of this test", sealed.Types(t, pkg, "name"), wanted)
	sealed.Check(t, "events that follow in this test", sealed.Types(t, pkg, "isEvent"), events)
	declared := sealed.Calls(t, pkg, "ident", "NotFound", "Forbidden", "Conflict")
	sealed.Check(t, "rejections of this test", declared, codes)
	sealed.Check(t, "account.Rejections()", declared, listed)
}
