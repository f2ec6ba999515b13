package account_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/threads/domain/account"
	"example.com/threads/domain/writing"
)

func TestDecide(t *testing.T) {
	ada, countess := writing.RecordedName("Ada"), writing.RecordedName("Countess of Lovelace")
	registered := account.Registered{Name: ada}
	for _, test := range []struct {
		given []account.Event
		when  account.Command
		then  []account.Event
		err   error
	}{
		{nil, account.Register{Name: ada}, []account.Event{registered}, nil},
		{nil, account.Rename{Name: ada}, nil, account.ErrAccountNotFound},
		{nil, account.Close{}, nil, account.ErrAccountNotFound},
		{[]account.Event{registered}, account.Register{Name: countess}, nil, account.ErrAccountExists},
		{[]account.Event{registered}, account.Rename{Name: countess}, []account.Event{account.Renamed{Name: countess}}, nil},
		{[]account.Event{registered}, account.Rename{Name: ada}, nil, account.ErrNameUnchanged},
		{[]account.Event{registered, account.Renamed{Name: countess}}, account.Rename{Name: ada}, []account.Event{account.Renamed{Name: ada}}, nil},
		{[]account.Event{registered}, account.Close{}, []account.Event{account.Closed{}}, nil},
		{[]account.Event{registered, account.Closed{}}, account.Register{Name: ada}, nil, account.ErrAccountExists},
		{[]account.Event{registered, account.Closed{}}, account.Rename{Name: countess}, nil, account.ErrAccountClosed},
		{[]account.Event{registered, account.Closed{}}, account.Close{}, nil, account.ErrAccountClosed},
	} {
		t.Run(fmt.Sprintf("%T after %d events", test.when, len(test.given)), func(t *testing.T) {
			var state account.Account
			for _, event := range test.given {
				state = state.Apply(event)
			}
			events, err := account.Decide(state, test.when)
			if diff := cmp.Diff(test.then, events, cmpopts.EquateComparable(writing.Name{})); diff != "" || !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v; events (-want +got):\n%s", err, test.err, diff)
			}
		})
	}
}

func TestMementoKeepsTheState(t *testing.T) {
	state := account.Account{}.Apply(account.Registered{Name: writing.RecordedName("Ada")})
	for _, state := range []account.Account{state, state.Apply(account.Closed{})} {
		if kept := state.Memento().Account(); kept != state {
			t.Errorf("kept %+v of %+v", kept, state)
		}
	}
}
