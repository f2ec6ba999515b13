package account_test

import (
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/domain/writing"
	"example.com/threads/tests/kit"
)

var (
	accounts = kit.Decider[account.Account, account.Command, account.Event]{Decide: account.Decide, Apply: account.Account.Apply}

	ada, countess = writing.RecordedName("Ada"), writing.RecordedName("Countess of Lovelace")
	registered    = account.Registered{Name: ada}
	renamed       = account.Renamed{Name: countess}
)

func TestDecide(t *testing.T) {
	events := func(events ...account.Event) []account.Event { return events }
	accounts.Check(t, []kit.Decision[account.Command, account.Event]{
		{"anyone registers once", nil, account.Register{Name: ada}, events(registered), nil},
		{"an account is registered once", events(registered), account.Register{Name: countess}, nil, account.ErrAccountExists},
		{"a closed account is not registered again", events(registered, account.Closed{}), account.Register{Name: ada}, nil, account.ErrAccountExists},
		{"who is not registered has no name to change", nil, account.Rename{Name: ada}, nil, account.ErrAccountNotFound},
		{"an account is renamed", events(registered), account.Rename{Name: countess}, events(renamed), nil},
		{"the same name is no news", events(registered), account.Rename{Name: ada}, nil, account.ErrNameUnchanged},
		{"an earlier name is news again", events(registered, renamed), account.Rename{Name: ada}, events(account.Renamed{Name: ada}), nil},
		{"a closed account keeps its name", events(registered, account.Closed{}), account.Rename{Name: countess}, nil, account.ErrAccountClosed},
		{"who is not registered closes nothing", nil, account.Close{}, nil, account.ErrAccountNotFound},
		{"an account is closed", events(registered), account.Close{}, events(account.Closed{}), nil},
		{"an account is closed once", events(registered, account.Closed{}), account.Close{}, nil, account.ErrAccountClosed},
	})
}

func TestMementoKeepsTheState(t *testing.T) {
	for _, state := range []account.Account{accounts.After(registered), accounts.After(registered, renamed, account.Closed{})} {
		if kept := state.Memento().Account(); kept != state {
			t.Errorf("kept %+v of %+v", kept, state)
		}
	}
}
