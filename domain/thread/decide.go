package thread

import "fmt"

// Command is a request to change a thread. The set is closed: lifecycle.go, membership.go and posting.go have all of
// them. A command carries the ids of what it creates, so that deciding stays pure.
//
//sumtype:decl
type Command interface {
	// name returns the result of [CommandName].
	name() string
}

// CommandName is the name by which a repeat of the command is recognised. It never changes, whatever becomes of the
// type.
func CommandName(c Command) string { return c.name() }

// Decide returns the events that result from command on t, or the rejection. A command that would change nothing is
// rejected, so an accepted command always has events.
//
// Decide is pure and does not change t; [Thread.Apply] applies the events.
func Decide(t Thread, command Command) ([]Event, error) {
	if _, begins := command.(Create); !begins {
		if err := t.Usable(); err != nil {
			return nil, err
		}
	}
	switch c := command.(type) {
	case Create:
		return one(t.create(c))
	case Rename:
		return one(t.rename(c))
	case Delete:
		return one(t.delete(c))
	case AddMember:
		return one(t.addMember(c))
	case RemoveMember:
		return one(t.removeMember(c))
	case Withdraw:
		return t.withdraw(c)
	case ChangeMemberRole:
		return one(t.changeMemberRole(c))
	case PostMessage:
		return one(t.postMessage(c))
	case EditMessage:
		return one(t.editMessage(c))
	case DeleteMessage:
		return one(t.deleteMessage(c))
	default:
		// The set of commands is closed: only a new command without a case can get here.
		panic(fmt.Sprintf("thread: no decision for command %T", command))
	}
}

// one returns the decision of a command that results in at most one event.
func one(event Event, err error) ([]Event, error) {
	if err != nil {
		return nil, err
	}
	return []Event{event}, nil
}

// Usable returns the rejection if the thread does not exist or is deleted; otherwise nil.
func (t Thread) Usable() error {
	switch {
	case !t.created:
		return ErrThreadNotFound
	case t.deleted:
		return ErrThreadDeleted
	}
	return nil
}
