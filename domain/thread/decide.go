package thread

import "fmt"

// Decide says what command makes of state: the events that follow, or the rejection ([Rejections]) that explains
// why nothing does. A command that would change nothing is rejected, so that events are never empty.
//
// Decide is pure, and state is not changed: what the events add up to is for [Thread.Apply].
func Decide(state Thread, command Command) ([]Event, error) {
	event, err := decide(state, command)
	if err != nil {
		return nil, err
	}
	return []Event{event}, nil
}

// Usable is the rejection of everything that is asked of a thread that does not exist or is deleted; nil of any other.
func (t Thread) Usable() error {
	switch {
	case !t.created:
		return ErrThreadNotFound
	case t.deleted:
		return ErrThreadDeleted
	}
	return nil
}

func decide(t Thread, command Command) (Event, error) {
	if _, begins := command.(Create); !begins {
		if err := t.Usable(); err != nil {
			return nil, err
		}
	}
	switch c := command.(type) {
	case Create:
		return t.create(c)
	case Rename:
		return t.rename(c)
	case Delete:
		return t.delete(c)
	case AddMember:
		return t.addMember(c)
	case RemoveMember:
		return t.removeMember(c)
	case ChangeMemberRole:
		return t.changeMemberRole(c)
	case PostMessage:
		return t.postMessage(c)
	case EditMessage:
		return t.editMessage(c)
	case DeleteMessage:
		return t.deleteMessage(c)
	default:
		// The set of commands is closed, so only a new command without a case can come here.
		panic(fmt.Sprintf("thread: no decision for command %T", command))
	}
}
