// Package account is the domain of accounts: an account gives a user account id a name, until it is closed.
//
// As in package thread, [Decide] and [Account.Apply] are pure. Commands name no executor: it is the account itself.
package account

import (
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/writing"
)

// AggregateType is what event stores know accounts as.
const AggregateType = "account"

// ID identifies an account: it is the id of the user account that it gives a name to.
type ID = ident.UserID

// Account is the state that results from an account's events. It is an immutable value; zero: it does not exist.
//
// A new field must be added to its JSON (eventjson). If it is not zero in every older account, the snapshot format must
// be increased: older snapshots are then skipped and the state is replayed from events.
type Account struct {
	Exists bool
	Closed bool
	Name   writing.Name
	Erased bool // then it is closed, too, and has no name // extra:erasure
}

// Command is a request to change an account. The set is closed: all types are in this file.
//
//sumtype:decl
type Command interface {
	// name returns the result of [CommandName].
	name() string
}

// CommandName returns the name by which repeats of the command are recognised. It must never change.
func CommandName(c Command) string { return c.name() }

// Register creates an account with this name.
type Register struct{ Name writing.Name }

// Rename gives the account another name.
type Rename struct{ Name writing.Name }

// Close closes the account permanently: its messages keep its name, and it leaves its threads.
type Close struct{}

// Erase forgets the person for good: nobody can read their texts and names any more. It needs no account. // extra:erasure {
type Erase struct{} // extra:erasure }

func (Register) name() string { return "account.Register" }
func (Rename) name() string   { return "account.Rename" }
func (Close) name() string    { return "account.Close" }
func (Erase) name() string    { return "account.Erase" } // extra:erasure

// Event is a fact about an account. The set is closed: all types are in this file.
//
//sumtype:decl
type Event interface{ isEvent() }

// Registered: the account was created.
type Registered struct{ Name writing.Name }

// Renamed: the account has another name.
type Renamed struct{ Name writing.Name }

// Closed: the account was closed.
type Closed struct{}

// Erased: the account is closed, and the person is forgotten. // extra:erasure {
type Erased struct{} // extra:erasure }

func (Registered) isEvent() {}
func (Renamed) isEvent()    {}
func (Closed) isEvent()     {}
func (Erased) isEvent()     {} // extra:erasure

// The rejections of well-formed commands. Compare with errors.Is.
var (
	ErrAccountNotFound = ident.NotFound("account_not_found", "the account does not exist")
	ErrAccountExists   = ident.Conflict("account_exists", "the account exists already")
	ErrAccountClosed   = ident.Conflict("account_closed", "the account is closed")
	ErrAccountErased   = ident.Conflict("account_erased", "the account is erased") // extra:erasure
	ErrNameUnchanged   = ident.Conflict("name_unchanged", "the account has this name already")
)

// Usable returns the rejection if the account does not exist or is closed; otherwise nil.
func (a Account) Usable() error {
	switch {
	case !a.Exists:
		return ErrAccountNotFound
	case a.Closed:
		return ErrAccountClosed
	}
	return nil
}

// Decide returns the events that result from command on state, or the rejection.
func Decide(state Account, command Command) ([]Event, error) {
	switch command.(type) {
	case Register: // needs no account
	case Erase: // nor does this // extra:erasure
	case Rename, Close:
		if err := state.Usable(); err != nil {
			return nil, err
		}
	}
	switch c := command.(type) {
	case Register:
		if state.Exists {
			return nil, ErrAccountExists
		}
		return []Event{Registered(c)}, nil
	case Rename:
		if c.Name == state.Name {
			return nil, ErrNameUnchanged
		}
		return []Event{Renamed(c)}, nil
	case Close:
		return []Event{Closed{}}, nil
	case Erase: // extra:erasure {
		if state.Erased {
			return nil, ErrAccountErased
		}
		return []Event{Erased{}}, nil // extra:erasure }
	default:
		// The set of commands is closed: only a new command without a case can get here.
		panic(fmt.Sprintf("account: no decision for command %T", command))
	}
}

// Apply returns the state after event; a is not changed. It checks nothing and never fails.
func (a Account) Apply(event Event) Account {
	switch e := event.(type) {
	case Registered:
		return Account{Exists: true, Name: e.Name}
	case Renamed:
		a.Name = e.Name
	case Closed:
		a.Closed = true
	case Erased: // extra:erasure {
		return Account{Exists: true, Closed: true, Erased: true} // extra:erasure }
	default:
		// The set of events is closed: only a new event without a case can get here.
		panic(fmt.Sprintf("account: no state after event %T", event))
	}
	return a
}
