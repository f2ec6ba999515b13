package projection

import (
	"errors"
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// change is what one event does to the rows of its thread.
type change struct {
	thread   Thread
	members  []Member
	messages []Message
}

// changeBy says what recorded, the next event of its thread, makes of rows. It is pure. An event that contradicts the
// rows, or that this program does not know, is an error.
func changeBy(rows Rows, recorded usecase.Recorded[thread.Event]) (change, error) {
	before, exists := rows.Threads[recorded.Key()]
	at := place{rows: rows, envelope: recorded.Envelope}
	_, begins := recorded.Event.(thread.Created)
	switch {
	case begins && exists:
		return change{}, errors.New("the thread exists already")
	case begins:
	case !exists:
		return change{}, errors.New("the thread does not exist")
	case before.Deleted:
		return change{}, errors.New("the thread is deleted")
	}

	after, err := at.changed(before, recorded.Event)
	after.thread.Version = recorded.SeqNr
	after.thread.UpdatedAt = recorded.OccurredAt
	return after, err
}

// place is where and when an event happens.
type place struct {
	rows     Rows
	envelope usecase.Envelope
}

func (p place) thread() thread.ID {
	id, _ := ident.Parse[thread.Thread](p.envelope.AggregateID) // it was parsed when the event was read
	return id
}

// changed is what happens to a thread that is there and alive, or that begins.
func (p place) changed(before Thread, event thread.Event) (change, error) {
	switch e := event.(type) {
	case thread.Created:
		return p.created(e)
	case thread.Renamed:
		before.Name = e.Name.String()
		return change{thread: before}, nil
	case thread.Deleted:
		before.Deleted = true
		return change{thread: before}, nil
	case thread.MemberAdded:
		return change{thread: before, members: []Member{p.joined(e.Member)}}, nil
	case thread.MemberRemoved:
		member, err := p.member(e.Member)
		member.Removed = true
		return change{thread: before, members: []Member{member}}, err
	case thread.MemberRoleChanged:
		member, err := p.member(e.Member)
		member.Role = e.Role.String()
		return change{thread: before, members: []Member{member}}, err
	case thread.MessagePosted:
		return change{thread: before, messages: []Message{p.posted(e.Message)}}, nil
	case thread.MessageEdited:
		message, err := p.message(e.Message.ID)
		message.Text = e.Message.Text.String()
		return change{thread: before, messages: []Message{message}}, err
	case thread.MessageDeleted:
		message, err := p.message(e.Message)
		message.Text, message.Deleted = "", true
		return change{thread: before, messages: []Message{message}}, err
	default:
		return change{}, fmt.Errorf("no projection of event %T", event)
	}
}

func (p place) created(e thread.Created) (change, error) {
	begun := change{thread: Thread{
		Key: p.envelope.Key(), Name: e.Name.String(), Version: p.envelope.SeqNr,
		CreatedAt: p.envelope.OccurredAt, UpdatedAt: p.envelope.OccurredAt,
	}}
	for _, member := range e.Members {
		if member.Role == thread.RoleAdmin && begun.thread.Owner.IsZero() {
			begun.thread.Owner = member.User
		}
		begun.members = append(begun.members, p.joined(member))
	}
	if begun.thread.Owner.IsZero() {
		return change{}, errors.New("the thread begins without an Admin")
	}
	return begun, nil
}

func (p place) joined(member thread.Member) Member {
	return Member{
		Key: MemberKey{p.envelope.Tenant, member.ID}, Thread: p.thread(), User: member.User, Role: member.Role.String(),
		JoinedSeq: p.envelope.SeqNr, CreatedAt: p.envelope.OccurredAt, UpdatedAt: p.envelope.OccurredAt,
	}
}

func (p place) posted(message thread.Message) Message {
	return Message{
		Key: MessageKey{p.envelope.Tenant, message.ID}, Thread: p.thread(), Sender: message.Sender, Text: message.Text.String(),
		SeqNr: p.envelope.SeqNr, CreatedAt: p.envelope.OccurredAt, UpdatedAt: p.envelope.OccurredAt,
	}
}

// member is the row of a member that is there, as changed now.
func (p place) member(id thread.MemberID) (Member, error) {
	member, exists := p.rows.Members[MemberKey{p.envelope.Tenant, id}]
	if !exists || member.Removed || member.Thread != p.thread() {
		return member, fmt.Errorf("member %s is not in the thread", id)
	}
	member.UpdatedAt = p.envelope.OccurredAt
	return member, nil
}

// message is the row of a message that is there, as changed now.
func (p place) message(id thread.MessageID) (Message, error) {
	message, exists := p.rows.Messages[MessageKey{p.envelope.Tenant, id}]
	if !exists || message.Deleted || message.Thread != p.thread() {
		return message, fmt.Errorf("message %s is not in the thread", id)
	}
	message.UpdatedAt = p.envelope.OccurredAt
	return message, nil
}

// add makes changed a part of rows.
func (r Rows) add(changed change) {
	r.Threads[changed.thread.Key] = changed.thread
	for _, member := range changed.members {
		r.Members[member.Key] = member
	}
	for _, message := range changed.messages {
		r.Messages[message.Key] = message
	}
}
