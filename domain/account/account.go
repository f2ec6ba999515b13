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

// Account is what the events of one account add up to, as far as decisions need it. The zero value is an account that
// does not exist. It is an immutable value.
//
// A new field must be in the [Memento] and in its JSON (accountcodec). Where an older snapshot lacks what the field holds, the
// snapshot's format rises, so that the older ones are passed over and the state is made from the events again.
type Account struct {
	registered bool
	closed     bool
	name       writing.Name
}

// Command is what somebody wants to happen to their account. The set is closed: the types of this file are all there
// are.
//
//sumtype:decl
type Command interface {
	// name is what [CommandName] tells.
	name() string
}

// CommandName is the name by which a repeat of the command is recognised. It never changes, whatever becomes of the type.
func CommandName(c Command) string { return c.name() }

// Register wants an account with this name.
type Register struct{ Name writing.Name }

// Rename wants another name for the account.
type Rename struct{ Name writing.Name }

// Close wants the account gone for good: its name stays with what it said, and it leaves its threads.
type Close struct{}

func (Register) name() string { return "account.Register" }
func (Rename) name() string   { return "account.Rename" }
func (Close) name() string    { return "account.Close" }

// Event is something that has happened to an account. The set is closed: the types of this file are all there are.
//
//sumtype:decl
type Event interface{ isEvent() }

// Registered begins an account.
type Registered struct{ Name writing.Name }

// Renamed gives the account another name.
type Renamed struct{ Name writing.Name }

// Closed ends the account.
type Closed struct{}

func (Registered) isEvent() {}
func (Renamed) isEvent()    {}
func (Closed) isEvent()     {}

// The rejections: why a command that is well formed does not happen. Compare with errors.Is.
var (
	ErrAccountNotFound = ident.NotFound("account_not_found", "the account does not exist")
	ErrAccountExists   = ident.Conflict("account_exists", "the account exists already")
	ErrAccountClosed   = ident.Conflict("account_closed", "the account is closed")
	ErrNameUnchanged   = ident.Conflict("name_unchanged", "the account has this name already")
)

// Usable is the rejection of everything that is asked of an account that does not exist or is closed; nil of any other.
func (a Account) Usable() error {
	switch {
	case !a.registered:
		return ErrAccountNotFound
	case a.closed:
		return ErrAccountClosed
	}
	return nil
}

// Decide says what command makes of state: the events that follow, or the rejection that explains why nothing does.
func Decide(state Account, command Command) ([]Event, error) {
	if _, begins := command.(Register); !begins {
		if err := state.Usable(); err != nil {
			return nil, err
		}
	}
	switch c := command.(type) {
	case Register:
		if state.registered {
			return nil, ErrAccountExists
		}
		return []Event{Registered(c)}, nil
	case Rename:
		if c.Name == state.name {
			return nil, ErrNameUnchanged
		}
		return []Event{Renamed(c)}, nil
	case Close:
		return []Event{Closed{}}, nil
	default:
		// The set of commands is closed, so only a new command without a case can come here.
		panic(fmt.Sprintf("account: no decision for command %T", command))
	}
}

// Apply returns the state after event; a stays as it is. It never fails and judges nothing: what has happened has
// happened.
func (a Account) Apply(event Event) Account {
	switch e := event.(type) {
	case Registered:
		return Account{registered: true, name: e.Name}
	case Renamed:
		a.name = e.Name
	case Closed:
		a.closed = true
	default:
		// The set of events is closed, so only a new event without a case can come here.
		panic(fmt.Sprintf("account: no state after event %T", event))
	}
	return a
}

// Memento is a state laid open, for those who store it as a snapshot. [Account.Memento] and [Memento.Account] are
// inverse.
type Memento struct {
	Name   writing.Name
	Closed bool
}

// Memento lays the state of an account that exists open.
func (a Account) Memento() Memento { return Memento{Name: a.name, Closed: a.closed} }

// Account is the state that m was taken from.
func (m Memento) Account() Account {
	return Account{registered: true, closed: m.Closed, name: m.Name}
}
