package thread

// Event is something that has happened to a thread. The set is closed: the types of this file are all there are.
// When, by whom and in which order it happened is told by the envelope around it, not by the event.
//
//sumtype:decl
type Event interface{ isEvent() }

// Created begins a thread.
type Created struct {
	Name    Name
	Members []Member // the creator, as Admin
}

// Renamed gives the thread another name.
type Renamed struct{ Name Name }

// Deleted ends the thread.
type Deleted struct{}

// MemberAdded lets a user account in.
type MemberAdded struct{ Member Member }

// MemberRemoved tells that a member left or was put out.
type MemberRemoved struct {
	Member MemberID
	User   UserID
}

// MemberRoleChanged gives a member another role.
type MemberRoleChanged struct {
	Member MemberID
	User   UserID
	Role   Role
}

// MessagePosted adds a message at the end of the thread.
type MessagePosted struct{ Message Message }

// MessageEdited gives a message another text.
type MessageEdited struct{ Message Message }

// MessageDeleted takes a message away.
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

// Message is what somebody said in a thread.
type Message struct {
	ID     MessageID
	Sender UserID
	Text   Text
}
