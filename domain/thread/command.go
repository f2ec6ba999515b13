package thread

// Command is a request to change a thread. The set is closed: all types are in this file. A command contains the ids of
// the things that it creates, so that deciding stays pure.
//
//sumtype:decl
type Command interface {
	// name returns the result of [CommandName].
	name() string
}

// CommandName returns the name by which repeats of the command are recognised. It must never change, even if the type
// is renamed.
func CommandName(c Command) string { return c.name() }

// Create creates a thread with the executor as its first Admin.
type Create struct {
	Executor UserID
	Member   MemberID // the membership of the executor
	Name     Name
}

// Rename gives the thread another name.
type Rename struct {
	Executor UserID
	Name     Name
}

// Delete deletes the thread.
type Delete struct{ Executor UserID }

// AddMember adds a user account to the thread.
type AddMember struct {
	Executor UserID
	Member   MemberID
	User     UserID
	Role     Role
}

// RemoveMember removes a user account from the thread; a member can also remove themselves.
type RemoveMember struct {
	Executor UserID
	User     UserID
}

// Withdraw makes the executor leave in any case, because the user account was closed: see [Thread.withdraw]. Only the
// system sends it.
type Withdraw struct{ Executor UserID }

// ChangeMemberRole gives a member another role.
type ChangeMemberRole struct {
	Executor UserID
	User     UserID
	Role     Role
}

// PostMessage posts a message.
type PostMessage struct {
	Executor UserID
	Message  MessageID
	Text     Text
}

// EditMessage changes the text of a message of the executor.
type EditMessage struct {
	Executor UserID
	Message  MessageID
	Text     Text
}

// DeleteMessage deletes a message.
type DeleteMessage struct {
	Executor UserID
	Message  MessageID
}

func (Create) name() string           { return "thread.Create" }
func (Rename) name() string           { return "thread.Rename" }
func (Delete) name() string           { return "thread.Delete" }
func (AddMember) name() string        { return "thread.AddMember" }
func (RemoveMember) name() string     { return "thread.RemoveMember" }
func (Withdraw) name() string         { return "thread.Withdraw" }
func (ChangeMemberRole) name() string { return "thread.ChangeMemberRole" }
func (PostMessage) name() string      { return "thread.PostMessage" }
func (EditMessage) name() string      { return "thread.EditMessage" }
func (DeleteMessage) name() string    { return "thread.DeleteMessage" }
