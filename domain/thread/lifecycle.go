package thread

import "example.com/threads/domain/ident"

// Create wants a new thread with its executor as first Admin.
type Create struct {
	Executor UserID
	Member   MemberID // the membership of the executor
	Name     Name
	Code     Code
}

// Rename wants another name for the thread.
type Rename struct {
	Executor UserID
	Name     Name
}

// Delete wants the thread gone.
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

func (Created) isEvent() {}
func (Renamed) isEvent() {}
func (Deleted) isEvent() {}

// Why commands on a thread as a whole are rejected. Compare with [errors.Is].
var (
	ErrThreadNotFound = ident.NotFound("thread_not_found", "the thread does not exist")
	ErrThreadExists   = ident.Conflict("concurrent_update", "the thread exists already")
	ErrThreadDeleted  = ident.Conflict("thread_deleted", "the thread is deleted")
	ErrNameUnchanged  = ident.Conflict("name_unchanged", "the thread has this name already")
)

func (t Thread) create(c Create) (Event, error) {
	if t.created {
		return nil, ErrThreadExists
	}
	creator := Member{ID: c.Member, User: c.Executor, Role: RoleAdmin}
	return Created{Name: c.Name, Code: c.Code, Members: []Member{creator}}, nil
}

func (t Thread) rename(c Rename) (Event, error) {
	if err := t.mustBeAdmin(c.Executor); err != nil {
		return nil, err
	}
	if t.name == c.Name {
		return nil, ErrNameUnchanged
	}
	return Renamed{Name: c.Name}, nil
}

func (t Thread) delete(c Delete) (Event, error) {
	if err := t.mustBeAdmin(c.Executor); err != nil {
		return nil, err
	}
	return Deleted{}, nil
}
