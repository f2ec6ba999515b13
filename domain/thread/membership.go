package thread

import (
	"slices"

	"example.com/threads/domain/ident"
)

// Member is the membership of a user account in a thread.
type Member struct {
	ID   MemberID
	User UserID
	Role Role
}

// Participant is a member as the state keeps it.
type Participant struct {
	Member
	Joined uint64 // number of the event that let the member in
}

type membership struct {
	admins  int
	members immutableMap[UserID, Participant]
}

// Role defines what a member may do. The zero value is no role.
type Role struct{ name string }

var (
	RoleAdmin  = Role{"Admin"}
	RoleMember = Role{"Member"}
)

// ParseRole reads "Admin" or "Member"; anything else is an [ident.InvalidError].
func ParseRole(text string) (Role, error) {
	switch role := (Role{text}); role {
	case RoleAdmin, RoleMember:
		return role, nil
	}
	return Role{}, &ident.InvalidError{Field: "role", Reason: "must be Admin or Member"}
}

func (r Role) String() string { return r.name }

// MarshalText implements [encoding.TextMarshaler] with [Role.String].
func (r Role) MarshalText() ([]byte, error) { return []byte(r.name), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] with [ParseRole].
func (r *Role) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRole(string(text))
	return err
}

// AddMember requests to add a user account.
type AddMember struct {
	Executor UserID
	Member   MemberID
	User     UserID
	Role     Role
}

// RemoveMember requests to remove a user account, or to leave if executor and user are the same.
type RemoveMember struct {
	Executor UserID
	User     UserID
}

// Withdraw has the executor leave in any case, because the account was closed. Only the process manager sends it.
type Withdraw struct{ Executor UserID }

// ChangeMemberRole requests another role for a member.
type ChangeMemberRole struct {
	Executor UserID
	User     UserID
	Role     Role
}

func (AddMember) name() string        { return "thread.AddMember" }
func (RemoveMember) name() string     { return "thread.RemoveMember" }
func (Withdraw) name() string         { return "thread.Withdraw" }
func (ChangeMemberRole) name() string { return "thread.ChangeMemberRole" }

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

// Why commands on a thread's members are rejected. Compare with [errors.Is].
var (
	ErrMemberNotFound = ident.NotFound("member_not_found", "the user account is not a member of the thread")
	ErrNotMember      = ident.Forbidden("not_a_member", "only a member of the thread may do this")
	ErrNotAdmin       = ident.Forbidden("not_an_admin", "only an Admin of the thread may do this")
	ErrAlreadyMember  = ident.Conflict("already_a_member", "the user account is a member already")
	ErrRoleUnchanged  = ident.Conflict("role_unchanged", "the member has this role already")
	ErrLastAdmin      = ident.Conflict("last_admin", "the last Admin can neither leave while others remain nor be demoted")
)

func (c AddMember) decide(t Thread) ([]Event, error) {
	if err := t.mustBeAdmin(c.Executor); err != nil {
		return nil, err
	}
	if _, isMember := t.members.get(c.User); isMember {
		return nil, ErrAlreadyMember
	}
	return []Event{MemberAdded{Member: Member{ID: c.Member, User: c.User, Role: c.Role}}}, nil
}

func (c RemoveMember) decide(t Thread) ([]Event, error) {
	leaving := c.Executor == c.User
	if err := t.mustBeMember(c.Executor); err != nil {
		return nil, err
	}
	if err := t.mustBeAdmin(c.Executor); err != nil && !leaving {
		return nil, err
	}
	member, isMember := t.members.get(c.User)
	switch {
	case !isMember:
		return nil, ErrMemberNotFound
	case t.isLastAdmin(member) && t.members.all().Len() > 1:
		return nil, ErrLastAdmin
	}
	return []Event{MemberRemoved{Member: member.ID, User: member.User}}, nil
}

// If the last Admin leaves, the member who joined first becomes Admin. If nobody is left, the thread is deleted.
func (c Withdraw) decide(t Thread) ([]Event, error) {
	member, isMember := t.members.get(c.Executor)
	switch {
	case !isMember:
		return nil, ErrNotMember
	case t.members.all().Len() == 1:
		return []Event{Deleted{}}, nil
	}
	removed := MemberRemoved{Member: member.ID, User: member.User}
	if !t.isLastAdmin(member) {
		return []Event{removed}, nil
	}
	others := slices.DeleteFunc(t.Participants(), func(other Participant) bool { return other.ID == member.ID })
	return []Event{MemberRoleChanged{Member: others[0].ID, User: others[0].User, Role: RoleAdmin}, removed}, nil
}

func (c ChangeMemberRole) decide(t Thread) ([]Event, error) {
	if err := t.mustBeAdmin(c.Executor); err != nil {
		return nil, err
	}
	member, isMember := t.members.get(c.User)
	switch {
	case !isMember:
		return nil, ErrMemberNotFound
	case member.Role == c.Role:
		return nil, ErrRoleUnchanged
	case t.isLastAdmin(member):
		// also if alone: a demoted member stays, and a thread without an Admin could not be managed
		return nil, ErrLastAdmin
	}
	return []Event{MemberRoleChanged{Member: member.ID, User: member.User, Role: c.Role}}, nil
}

func (e MemberAdded) apply(t Thread) Thread { return t.withMember(Participant{e.Member, t.events}) }

func (e MemberRemoved) apply(t Thread) Thread { return t.withoutMember(e.User) }

func (e MemberRoleChanged) apply(t Thread) Thread {
	if member, isMember := t.members.get(e.User); isMember {
		member.Role = e.Role
		t = t.withMember(member)
	}
	return t
}

func (t Thread) mustBeMember(user UserID) error {
	if _, isMember := t.members.get(user); !isMember {
		return ErrNotMember
	}
	return nil
}

func (t Thread) mustBeAdmin(user UserID) error {
	member, isMember := t.members.get(user)
	switch {
	case !isMember:
		return ErrNotMember
	case member.Role != RoleAdmin:
		return ErrNotAdmin
	}
	return nil
}

func (t Thread) isLastAdmin(member Participant) bool {
	return member.Role == RoleAdmin && t.admins == 1
}

// withMember takes a member in, or changes one.
func (t Thread) withMember(member Participant) Thread {
	t = t.withoutMember(member.User)
	t.members = t.members.with(member.User, member)
	if member.Role == RoleAdmin {
		t.admins++
	}
	return t
}

func (t Thread) withoutMember(user UserID) Thread {
	if member, isMember := t.members.get(user); isMember && member.Role == RoleAdmin {
		t.admins--
	}
	t.members = t.members.without(user)
	return t
}
