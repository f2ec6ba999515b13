package thread

// Event is a fact about a thread. The set is closed: all types are in this file. The envelope, not the event, holds
// time, executor and sequence number.
//
//sumtype:decl
type Event interface{ isEvent() }

// Created: the thread was created.
type Created struct {
	Name    Name
	Members []Member // the creator, as Admin
}

// Renamed: the thread has another name.
type Renamed struct{ Name Name }

// Deleted: the thread was deleted.
type Deleted struct{}

// MemberAdded: a user account became a member.
type MemberAdded struct{ Member Member }

// MemberRemoved: a member left or was removed.
type MemberRemoved struct {
	Member MemberID
	User   UserID
}

// MemberRoleChanged: a member has another role.
type MemberRoleChanged struct {
	Member MemberID
	User   UserID
	Role   Role
}

// MessagePosted: a message was added at the end of the thread.
type MessagePosted struct{ Message Message }

// MessageEdited: a message has another text.
type MessageEdited struct{ Message Message }

// MessageDeleted: a message was deleted.
type MessageDeleted struct{ Message MessageID }

func (Created) isEvent()           {}
func (Renamed) isEvent()           {}
func (Deleted) isEvent()           {}
func (MemberAdded) isEvent()       {}
func (MemberRemoved) isEvent()     {}
func (MemberRoleChanged) isEvent() {}
func (MessagePosted) isEvent()     {}
func (MessageEdited) isEvent()     {}
func (MessageDeleted) isEvent()    {}

// Message is a message with its sender.
type Message struct {
	ID     MessageID
	Sender UserID
	Text   Text
}
