package eventcodec

import (
	"errors"
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
)

// TypeOf is the name that an event has in the journal.
func TypeOf(event thread.Event) string {
	switch event.(type) {
	case thread.Created:
		return "ThreadCreated"
	case thread.Renamed:
		return "ThreadRenamed"
	case thread.Deleted:
		return "ThreadDeleted"
	case thread.MemberAdded:
		return "ThreadMemberAdded"
	case thread.MemberRemoved:
		return "ThreadMemberRemoved"
	case thread.MemberRoleChanged:
		return "ThreadMemberRoleChanged"
	case thread.MessagePosted:
		return "ThreadMessagePosted"
	case thread.MessageEdited:
		return "ThreadMessageEdited"
	case thread.MessageDeleted:
		return "ThreadMessageDeleted"
	default:
		panic(fmt.Sprintf("eventcodec: no name for event %T", event))
	}
}

// fill sets the fields that the event's type has.
func (w *wireEvent) fill(event thread.Event) {
	switch e := event.(type) {
	case thread.Created:
		w.Name, w.Members = e.Name.String(), membersOf(e.Members)
	case thread.Renamed:
		w.Name = e.Name.String()
	case thread.Deleted:
	case thread.MemberAdded:
		member := memberOf(e.Member)
		w.Member = &member
	case thread.MemberRemoved:
		w.MemberID, w.User = &wireID[thread.Member]{e.Member}, &wireID[ident.UserAccount]{e.User}
	case thread.MemberRoleChanged:
		w.MemberID, w.User, w.Role = &wireID[thread.Member]{e.Member}, &wireID[ident.UserAccount]{e.User}, &wireRole{e.Role}
	case thread.MessagePosted:
		w.Message = messageOf(e.Message)
	case thread.MessageEdited:
		w.Message = messageOf(e.Message)
	case thread.MessageDeleted:
		w.MessageID = &wireID[thread.Message]{e.Message}
	default:
		panic(fmt.Sprintf("eventcodec: no JSON for event %T", event))
	}
}

// event reads the fields that the type has. "Created" is the first version of "ThreadCreated".
func (w *wireEvent) event() (thread.Event, error) {
	switch w.Type {
	case "ThreadCreated", "Created":
		return w.created()
	case "ThreadRenamed":
		name, err := w.name()
		return thread.Renamed{Name: name}, err
	case "ThreadDeleted":
		return thread.Deleted{}, nil
	case "ThreadMemberAdded":
		if w.Member == nil {
			return nil, errors.New("member must be there")
		}
		member, err := w.Member.member()
		return thread.MemberAdded{Member: member}, err
	case "ThreadMemberRemoved":
		if w.MemberID == nil || w.User == nil {
			return nil, errors.New("member_id and user_account_id must be there")
		}
		return thread.MemberRemoved{Member: w.MemberID.id, User: w.User.id}, nil
	case "ThreadMemberRoleChanged":
		if w.MemberID == nil || w.User == nil || w.Role == nil {
			return nil, errors.New("member_id, user_account_id and role must be there")
		}
		return thread.MemberRoleChanged{Member: w.MemberID.id, User: w.User.id, Role: w.Role.role}, nil
	case "ThreadMessagePosted":
		message, err := w.message()
		return thread.MessagePosted{Message: message}, err
	case "ThreadMessageEdited":
		message, err := w.message()
		return thread.MessageEdited{Message: message}, err
	case "ThreadMessageDeleted":
		if w.MessageID == nil {
			return nil, errors.New("message_id must be there")
		}
		return thread.MessageDeleted{Message: w.MessageID.id}, nil
	}
	return nil, errors.New("its type is unknown; was it written by a newer version of the program?")
}

func (w *wireEvent) created() (thread.Event, error) {
	name, err := w.name()
	if err != nil {
		return nil, err
	}
	if w.Members == nil || len(w.Members.Members) == 0 {
		return nil, errors.New("members must be there")
	}
	members, err := w.Members.members()
	return thread.Created{Name: name, Members: members}, err
}

func (w *wireEvent) name() (thread.Name, error) {
	if w.Name == "" {
		return thread.Name{}, errors.New("name must be there")
	}
	return writing.RecordedName(w.Name), nil
}

func (w *wireEvent) message() (thread.Message, error) {
	if w.Message == nil {
		return thread.Message{}, errors.New("message must be there")
	}
	return w.Message.message()
}
