package rest

import "example.com/threads/domain/thread"

// The request bodies. All fields are required. Their types know how to read themselves (fields.go).

// Executor is who acts.
type Executor struct {
	ID userID `json:"executor_id" doc:"The user account that acts."`
}

func (e Executor) executor() thread.UserID { return e.ID.value }
func (Executor) thread() thread.ID         { return thread.ID{} }

// OnThread is who acts, and on which thread.
type OnThread struct {
	Executor
	Thread threadID `json:"thread_id" doc:"The thread."`
}

func (o OnThread) thread() thread.ID { return o.Thread.value }

type createThread struct {
	Executor
	Name name `json:"name" doc:"The thread's name: 1 to 64 characters after trimming, none of them a control character."`
}

func (b createThread) command() thread.Command {
	return thread.Create{Executor: b.executor(), Name: b.Name.value}
}

type renameThread struct {
	OnThread
	Name name `json:"name" doc:"The thread's new name: 1 to 64 characters after trimming, none of them a control character."`
}

func (b renameThread) command() thread.Command {
	return thread.Rename{Executor: b.executor(), Name: b.Name.value}
}

type deleteThread struct{ OnThread }

func (b deleteThread) command() thread.Command { return thread.Delete{Executor: b.executor()} }

type addMember struct {
	OnThread
	User userID `json:"user_account_id" doc:"The user account to let in."`
	Role role   `json:"role" doc:"What the member may do."`
}

func (b addMember) command() thread.Command {
	return thread.AddMember{Executor: b.executor(), User: b.User.value, Role: b.Role.value}
}

type removeMember struct {
	OnThread
	User userID `json:"user_account_id" doc:"The user account to put out; the executor's own to leave."`
}

func (b removeMember) command() thread.Command {
	return thread.RemoveMember{Executor: b.executor(), User: b.User.value}
}

type changeMemberRole struct {
	OnThread
	User userID `json:"user_account_id" doc:"The member's user account."`
	Role role   `json:"role" doc:"What the member may do from now on."`
}

func (b changeMemberRole) command() thread.Command {
	return thread.ChangeMemberRole{Executor: b.executor(), User: b.User.value, Role: b.Role.value}
}

type postMessage struct {
	OnThread
	Text text `json:"text" doc:"What to say: 1 to 4000 characters after trimming, no control characters but newline and tab."`
}

func (b postMessage) command() thread.Command {
	return thread.PostMessage{Executor: b.executor(), Text: b.Text.value}
}

type editMessage struct {
	OnThread
	Message messageID `json:"message_id" doc:"The message."`
	Text    text      `json:"text" doc:"The new text: 1 to 4000 characters after trimming, no control characters but newline and tab."`
}

func (b editMessage) command() thread.Command {
	return thread.EditMessage{Executor: b.executor(), Message: b.Message.value, Text: b.Text.value}
}

type deleteMessage struct {
	OnThread
	Message messageID `json:"message_id" doc:"The message."`
}

func (b deleteMessage) command() thread.Command {
	return thread.DeleteMessage{Executor: b.executor(), Message: b.Message.value}
}

type takeSnapshot struct{ OnThread }
