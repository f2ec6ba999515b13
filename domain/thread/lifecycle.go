package thread

import (
	"strings"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/writing"
)

// Name is a thread's name.
type Name = writing.Name

const maxCodeLength = 64 // limit of a [Code], in bytes

// Code is the short name of a thread for people, such as THREAD-000001. It is unique within the tenant and never
// changes. The zero value is no code, for threads older than codes.
type Code struct{ value string }

// ParseCode returns text as a code: 1 to 64 visible ASCII characters. Anything else is an [ident.InvalidError].
func ParseCode(text string) (Code, error) {
	unusable := func(r rune) bool { return r <= ' ' || r > '~' }
	if text == "" || len(text) > maxCodeLength || strings.ContainsFunc(text, unusable) {
		return Code{}, &ident.InvalidError{Field: "code", Reason: "must be 1 to 64 visible ASCII characters, such as THREAD-000001"}
	}
	return Code{text}, nil
}

// RecordedCode returns a code from a sequence, the journal or a row, unchecked; empty text is no code.
func RecordedCode(text string) Code { return Code{text} }

func (c Code) String() string { return c.value }

// UnmarshalText implements [encoding.TextUnmarshaler] with [ParseCode].
func (c *Code) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCode(string(text))
	return err
}

// Create requests a new thread with its executor as first Admin.
type Create struct {
	Executor UserID
	Member   MemberID // the membership of the executor
	Name     Name
	Code     Code // drawn before the decision
}

// Rename requests another name for the thread.
type Rename struct {
	Executor UserID
	Name     Name
}

// Delete requests to delete the thread.
type Delete struct{ Executor UserID }

func (Create) name() string { return "thread.Create" }
func (Rename) name() string { return "thread.Rename" }
func (Delete) name() string { return "thread.Delete" }

// Created begins a thread.
type Created struct {
	Name    Name
	Code    Code
	Members []Member // the creator, as Admin
}

// Renamed gives the thread another name.
type Renamed struct{ Name Name }

// Deleted ends the thread.
type Deleted struct{}

// Why commands on a thread as a whole are rejected. Compare with [errors.Is].
var (
	ErrThreadNotFound = ident.NotFound("thread_not_found", "the thread does not exist")
	ErrThreadExists   = ident.Conflict("concurrent_update", "the thread exists already")
	ErrThreadDeleted  = ident.Conflict("thread_deleted", "the thread is deleted")
	ErrNameUnchanged  = ident.Conflict("name_unchanged", "the thread has this name already")
)

func (c Create) decide(t Thread) ([]Event, error) {
	if t.created {
		return nil, ErrThreadExists
	}
	creator := Member{ID: c.Member, User: c.Executor, Role: RoleAdmin}
	return []Event{Created{Name: c.Name, Code: c.Code, Members: []Member{creator}}}, nil
}

func (c Rename) decide(t Thread) ([]Event, error) {
	if err := t.mustBeAdmin(c.Executor); err != nil {
		return nil, err
	}
	if t.name == c.Name {
		return nil, ErrNameUnchanged
	}
	return []Event{Renamed{Name: c.Name}}, nil
}

func (c Delete) decide(t Thread) ([]Event, error) {
	if err := t.mustBeAdmin(c.Executor); err != nil {
		return nil, err
	}
	return []Event{Deleted{}}, nil
}

func (e Created) apply(t Thread) Thread {
	t.created, t.name = true, e.Name
	for _, member := range e.Members {
		t = t.withMember(Participant{member, t.events})
	}
	return t
}

func (e Renamed) apply(t Thread) Thread {
	t.name = e.Name
	return t
}

// No command on a deleted thread is accepted, so the rest of the state is dropped.
func (Deleted) apply(t Thread) Thread {
	return Thread{created: true, deleted: true, events: t.events, name: t.name}
}
