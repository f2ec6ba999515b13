package thread

// Command is what somebody wants to happen to a thread. The set is closed: the types of this file are all there
// are. Identifiers of what a command brings into being come in with it, so that deciding stays pure.
//
//sumtype:decl
type Command interface {
	// name is what [CommandName] tells.
	name() string
}

// CommandName is the name by which a repeat of the command is recognised. It never changes, whatever becomes of the type.
func CommandName(c Command) string { return c.name() }

// Create wants a new thread with its executor as first Admin.
type Create struct {
	Executor UserID
	Member   MemberID // the membership of the executor
	Name     Name
}

// Rename wants another name for the thread.
type Rename struct {
	Executor UserID
	Name     Name
}

// Delete wants the thread gone.
type Delete struct{ Executor UserID }

// AddMember wants a user account let in.
type AddMember struct {
	Executor UserID
	Member   MemberID
	User     UserID
	Role     Role
}

// RemoveMember wants a user account put out, or to leave where executor and user are one.
type RemoveMember struct {
	Executor UserID
	User     UserID
}

// Withdraw has the executor leave in any case, because the user account is no more: see [Thread.withdraw]. No person asks
// for it.
type Withdraw struct{ Executor UserID }

// ChangeMemberRole wants another role for a member.
type ChangeMemberRole struct {
	Executor UserID
	User     UserID
	Role     Role
}

// PostMessage wants to say something.
type PostMessage struct {
	Executor UserID
	Message  MessageID
	Text     Text
}

// EditMessage wants another text for what the executor said.
type EditMessage struct {
	Executor UserID
	Message  MessageID
	Text     Text
}

// DeleteMessage wants a message gone.
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
