package thread

// Command is what somebody wants to happen to a thread. The set is closed: the types of this file are all there
// are. Identifiers of what a command brings into being come in with it, so that deciding stays pure.
//
//sumtype:decl
type Command interface{ isCommand() }

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

func (Create) isCommand()           {}
func (Rename) isCommand()           {}
func (Delete) isCommand()           {}
func (AddMember) isCommand()        {}
func (RemoveMember) isCommand()     {}
func (ChangeMemberRole) isCommand() {}
func (PostMessage) isCommand()      {}
func (EditMessage) isCommand()      {}
func (DeleteMessage) isCommand()    {}
