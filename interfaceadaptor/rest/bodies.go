package rest

import (
	"crypto/rand"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase/command"
)

// The request bodies. All fields are required. Their types know how to read themselves (fields.go). Here requests
// become commands, and get the ids of what they bring into being.

// newID makes the id of something that a command brings into being.
func newID[T any]() ident.Of[T] {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:]) // never fails: it says so
	return ident.New[T](time.Now(), entropy)
}

// threadRequest is what a body tells of a request for a command on a thread.
type threadRequest = command.Request[thread.Command]

// Executor is who acts.
type Executor struct {
	ID userID `json:"executor_id" doc:"The user account that acts."`
}

func (e Executor) executor() ident.UserID { return e.ID.value }

// OnThread is who acts, and on which thread.
type OnThread struct {
	Executor
	Thread threadID `json:"thread_id" doc:"The thread."`
}

func (o OnThread) thread() thread.ID { return o.Thread.value }

func (o OnThread) request(c thread.Command) threadRequest {
	return threadRequest{ID: o.Thread.value.String(), Command: c, Name: thread.CommandName(c)}
}

type createThread struct {
	Executor
	Name name `json:"name" doc:"The thread's name: 1 to 64 characters after trimming, none of them a control character."`
}

func (b createThread) asked() threadRequest {
	c := thread.Create{Executor: b.executor(), Member: newID[thread.Member](), Name: b.Name.value}
	return threadRequest{ID: newID[thread.Thread]().String(), Begins: true, Command: c, Name: thread.CommandName(c)}
}

type renameThread struct {
	OnThread
	Name name `json:"name" doc:"The thread's new name: 1 to 64 characters after trimming, none of them a control character."`
}

func (b renameThread) asked() threadRequest {
	return b.request(thread.Rename{Executor: b.executor(), Name: b.Name.value})
}

type deleteThread struct{ OnThread }

func (b deleteThread) asked() threadRequest { return b.request(thread.Delete{Executor: b.executor()}) }

type addMember struct {
	OnThread
	User userID `json:"user_account_id" doc:"The user account to let in."`
	Role role   `json:"role" doc:"What the member may do."`
}

func (b addMember) asked() threadRequest {
	return b.request(thread.AddMember{Executor: b.executor(), Member: newID[thread.Member](), User: b.User.value, Role: b.Role.value})
}

type removeMember struct {
	OnThread
	User userID `json:"user_account_id" doc:"The user account to put out; the executor's own to leave."`
}

func (b removeMember) asked() threadRequest {
	return b.request(thread.RemoveMember{Executor: b.executor(), User: b.User.value})
}

type changeMemberRole struct {
	OnThread
	User userID `json:"user_account_id" doc:"The member's user account."`
	Role role   `json:"role" doc:"What the member may do from now on."`
}

func (b changeMemberRole) asked() threadRequest {
	return b.request(thread.ChangeMemberRole{Executor: b.executor(), User: b.User.value, Role: b.Role.value})
}

type postMessage struct {
	OnThread
	Text text `json:"text" doc:"What to say: 1 to 4000 characters after trimming, no control characters but newline and tab."`
}

func (b postMessage) asked() threadRequest {
	return b.request(thread.PostMessage{Executor: b.executor(), Message: newID[thread.Message](), Text: b.Text.value})
}

type editMessage struct {
	OnThread
	Message messageID `json:"message_id" doc:"The message."`
	Text    text      `json:"text" doc:"The new text: 1 to 4000 characters after trimming, no control characters but newline and tab."`
}

func (b editMessage) asked() threadRequest {
	return b.request(thread.EditMessage{Executor: b.executor(), Message: b.Message.value, Text: b.Text.value})
}

type deleteMessage struct {
	OnThread
	Message messageID `json:"message_id" doc:"The message."`
}

func (b deleteMessage) asked() threadRequest {
	return b.request(thread.DeleteMessage{Executor: b.executor(), Message: b.Message.value})
}

type takeSnapshot struct{ OnThread }
