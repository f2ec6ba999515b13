package thread

import "example.com/threads/domain/ident"

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

// Role defines what a member may do. The zero value is no role.
type Role struct{ name string }

// The roles.
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

// Withdraw has the executor leave in any case, because the user account is no more: see [Thread.withdraw]. No person
// asks for it.
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

func (MemberAdded) isEvent()       {}
func (MemberRemoved) isEvent()     {}
func (MemberRoleChanged) isEvent() {}

// Why commands on a thread's members are rejected. Compare with [errors.Is].
var (
	ErrMemberNotFound = ident.NotFound("member_not_found", "the user account is not a member of the thread")
	ErrNotMember      = ident.Forbidden("not_a_member", "only a member of the thread may do this")
	ErrNotAdmin       = ident.Forbidden("not_an_admin", "only an Admin of the thread may do this")
	ErrAlreadyMember  = ident.Conflict("already_a_member", "the user account is a member already")
	ErrRoleUnchanged  = ident.Conflict("role_unchanged", "the member has this role already")
	ErrLastAdmin      = ident.Conflict("last_admin", "the last Admin can neither leave while others remain nor be demoted")
)

func (t Thread) addMember(c AddMember) (Event, error) {
	if err := t.mustBeAdmin(c.Executor); err != nil {
		return nil, err
	}
	if _, isMember := t.members.get(c.User); isMember {
		return nil, ErrAlreadyMember
	}
	return MemberAdded{Member: Member{ID: c.Member, User: c.User, Role: c.Role}}, nil
}

func (t Thread) removeMember(c RemoveMember) (Event, error) {
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
	case t.isLastAdmin(member.Member) && t.members.len() > 1:
		return nil, ErrLastAdmin
	}
	return MemberRemoved{Member: member.ID, User: member.User}, nil
}

// withdraw removes the executor. If the last Admin leaves, the member who joined first becomes Admin before that. If
// nobody is left, the thread is deleted.
func (t Thread) withdraw(c Withdraw) ([]Event, error) {
	member, isMember := t.members.get(c.Executor)
	switch {
	case !isMember:
		return nil, ErrNotMember
	case t.members.len() == 1:
		return []Event{Deleted{}}, nil
	}
	removed := MemberRemoved{Member: member.ID, User: member.User}
	if !t.isLastAdmin(member.Member) {
		return []Event{removed}, nil
	}
	heir := t.firstBeside(member.Member)
	return []Event{MemberRoleChanged{Member: heir.ID, User: heir.User, Role: RoleAdmin}, removed}, nil
}

// firstBeside returns the earliest other member. Member ids are created on joining, so it has the lowest id. The cost
// grows with the number of members.
func (t Thread) firstBeside(member Member) (first Member) {
	for other := range t.members.values() {
		if other.ID != member.ID && (first.ID.IsZero() || other.ID.Compare(first.ID) < 0) {
			first = other.Member
		}
	}
	return first
}

func (t Thread) changeMemberRole(c ChangeMemberRole) (Event, error) {
	if err := t.mustBeAdmin(c.Executor); err != nil {
		return nil, err
	}
	member, isMember := t.members.get(c.User)
	switch {
	case !isMember:
		return nil, ErrMemberNotFound
	case member.Role == c.Role:
		return nil, ErrRoleUnchanged
	case t.isLastAdmin(member.Member):
		// This also holds for a member who is alone: a demoted member stays, and a thread without an Admin could not be
		// managed.
		return nil, ErrLastAdmin
	}
	return MemberRoleChanged{Member: member.ID, User: member.User, Role: c.Role}, nil
}

func (t Thread) mustBeMember(user UserID) error {
	if _, isMember := t.members.get(user); !isMember {
		return ErrNotMember
	}
	return nil
}

// CheckAdmin returns the rejection unless the user is an Admin of the thread, which is there and not deleted.
func (t Thread) CheckAdmin(user UserID) error {
	if err := t.Usable(); err != nil {
		return err
	}
	return t.mustBeAdmin(user)
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

func (t Thread) isLastAdmin(member Member) bool { return member.Role == RoleAdmin && t.admins == 1 }

// withMember takes a member in, with the current event, or gives one another role.
func (t Thread) withMember(member Member) Thread {
	joined := t.events
	if before, isMember := t.members.get(member.User); isMember && before.ID == member.ID {
		joined = before.Joined
	}
	return t.withParticipant(Participant{member, joined})
}

func (t Thread) withParticipant(member Participant) Thread {
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
