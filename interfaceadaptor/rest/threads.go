package rest

import (
	"context"
	"net/http"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

// The operations on threads: their bodies, and the table.

// threadRequest is what a body tells of a request for a command on a thread.
type threadRequest = es.Request[thread.Command]

// OnThread holds the executor and the thread.
type OnThread struct {
	By
	Thread thread.ID `json:"thread_id" doc:"The thread."`
}

func (o OnThread) request(c thread.Command) threadRequest {
	return threadRequest{ID: o.Thread.String(), Command: c, Name: thread.CommandName(c)}
}

type createThread struct {
	By
	Name thread.Name `json:"name" doc:"The thread's name: 1 to 64 characters after trimming, none of them a control character." minLength:"1" maxLength:"64" example:"release planning"`
}

func (b createThread) Asked() threadRequest {
	c := thread.Create{Executor: b.Executor, Member: NewID[thread.Member](), Name: b.Name}
	return threadRequest{ID: NewID[thread.Thread]().String(), Begins: true, Command: c, Name: thread.CommandName(c)}
}

type renameThread struct {
	OnThread
	Name thread.Name `json:"name" doc:"The thread's new name: 1 to 64 characters after trimming, none of them a control character." minLength:"1" maxLength:"64" example:"release planning"`
}

func (b renameThread) Asked() threadRequest {
	return b.request(thread.Rename{Executor: b.Executor, Name: b.Name})
}

type deleteThread struct{ OnThread }

func (b deleteThread) Asked() threadRequest { return b.request(thread.Delete{Executor: b.Executor}) }

type addMember struct {
	OnThread
	User ident.UserID `json:"user_account_id" doc:"The user account to let in."`
	Role thread.Role  `json:"role" doc:"What the member may do." enum:"Admin,Member" example:"Member"`
}

func (b addMember) Asked() threadRequest {
	return b.request(thread.AddMember{Executor: b.Executor, Member: NewID[thread.Member](), User: b.User, Role: b.Role})
}

type removeMember struct {
	OnThread
	User ident.UserID `json:"user_account_id" doc:"The user account to put out; the executor's own to leave."`
}

func (b removeMember) Asked() threadRequest {
	return b.request(thread.RemoveMember{Executor: b.Executor, User: b.User})
}

type changeMemberRole struct {
	OnThread
	User ident.UserID `json:"user_account_id" doc:"The member's user account."`
	Role thread.Role  `json:"role" doc:"What the member may do from now on." enum:"Admin,Member" example:"Member"`
}

func (b changeMemberRole) Asked() threadRequest {
	return b.request(thread.ChangeMemberRole{Executor: b.Executor, User: b.User, Role: b.Role})
}

type postMessage struct {
	OnThread
	Text thread.Text `json:"text" doc:"What to say: 1 to 4000 characters after trimming, no control characters but newline and tab." minLength:"1" maxLength:"4000" example:"Good morning!"`
}

func (b postMessage) Asked() threadRequest {
	return b.request(thread.PostMessage{Executor: b.Executor, Message: NewID[thread.Message](), Text: b.Text})
}

type editMessage struct {
	OnThread
	Message thread.MessageID `json:"message_id" doc:"The message."`
	Text    thread.Text      `json:"text" doc:"The new text: 1 to 4000 characters after trimming, no control characters but newline and tab." minLength:"1" maxLength:"4000" example:"Good morning!"`
}

func (b editMessage) Asked() threadRequest {
	return b.request(thread.EditMessage{Executor: b.Executor, Message: b.Message, Text: b.Text})
}

type deleteMessage struct {
	OnThread
	Message thread.MessageID `json:"message_id" doc:"The message."`
}

func (b deleteMessage) Asked() threadRequest {
	return b.request(thread.DeleteMessage{Executor: b.Executor, Message: b.Message})
}

type takeSnapshot struct{ OnThread }

// The rejections that all operations on a thread can return.
var (
	byMembers = []error{thread.ErrThreadNotFound, thread.ErrThreadDeleted, thread.ErrNotMember}
	byAdmins  = append(byMembers[:3:3], thread.ErrNotAdmin)
)

// Threads returns threads with their operations.
func Threads(threads Service[thread.Command]) Aggregate {
	return Aggregate{Name: "threads", About: "Commands on threads, their members and their messages.", Operations: []Operation{
		{
			Path: "/threads/create", Status: http.StatusCreated, Summary: "Create a thread",
			Description: "Begins a thread, and gives it the next code of the tenant. The executor becomes its first member, as Admin.",
			Do:          Command[createThread](threads, createdAnswerOf),
			Rejections:  []error{account.ErrAccountErased},
			Without:     []string{IfMatch},
		},
		{
			Path: "/threads/rename", Summary: "Rename a thread",
			Description: "Gives the thread another name. Admins only.",
			Do:          Command[renameThread](threads, threadAnswerOf),
			Rejections:  append(byAdmins[:4:4], thread.ErrNameUnchanged, account.ErrAccountErased),
		},
		{
			Path: "/threads/delete", Summary: "Delete a thread",
			Description: "Ends the thread: from then on it accepts nothing and is shown to nobody. Admins only.",
			Do:          Command[deleteThread](threads, threadAnswerOf),
			Rejections:  byAdmins,
		},
		{
			Path: "/threads/add_member", Summary: "Add a member",
			Description: "Lets a user account in. Admins only.",
			Do:          Command[addMember](threads, memberAnswerOf),
			Rejections:  append(byAdmins[:4:4], thread.ErrAlreadyMember),
		},
		{
			Path: "/threads/remove_member", Summary: "Remove a member, or leave",
			Description: "Puts a user account out. Admins only, but anyone may leave by naming themselves. The last Admin can't leave while others remain.",
			Do:          Command[removeMember](threads, memberAnswerOf),
			Rejections:  append(byAdmins[:4:4], thread.ErrMemberNotFound, thread.ErrLastAdmin),
		},
		{
			Path: "/threads/change_member_role", Summary: "Change a member's role",
			Description: "Makes a member an Admin or an Admin a member. Admins only. The last Admin can't be demoted.",
			Do:          Command[changeMemberRole](threads, memberAnswerOf),
			Rejections:  append(byAdmins[:4:4], thread.ErrMemberNotFound, thread.ErrRoleUnchanged, thread.ErrLastAdmin),
		},
		{
			Path: "/threads/post_message", Summary: "Post a message",
			Description: "Adds a message at the end of the thread. Members only.",
			Do:          Command[postMessage](threads, messageAnswerOf),
			Rejections:  append(byMembers[:3:3], account.ErrAccountErased),
		},
		{
			Path: "/threads/edit_message", Summary: "Edit a message",
			Description: "Gives a message another text. Its sender only.",
			Do:          Command[editMessage](threads, messageAnswerOf),
			Rejections:  append(byMembers[:3:3], thread.ErrMessageNotFound, thread.ErrNotSender, thread.ErrTextUnchanged, account.ErrAccountErased),
		},
		{
			Path: "/threads/delete_message", Summary: "Delete a message",
			Description: "Takes a message away. Its sender or an Admin.",
			Do:          Command[deleteMessage](threads, messageAnswerOf),
			Rejections:  append(byMembers[:3:3], thread.ErrMessageNotFound, thread.ErrNotSender),
		},
		{
			Path: "/threads/snapshot", Summary: "Store a snapshot",
			Description: "Stores the thread's latest state, for it to be loaded from. An operation, not a command: no event follows and no version. Sending it again is harmless.",
			Do: Answering(func(ctx context.Context, c Conditions, body takeSnapshot) (snapshotAnswer, error) {
				version, err := threads.Snapshot(ctx, c.Caller, body.Thread.String())
				return snapshotAnswerOf(body.Thread, version), err
			}),
			Rejections: []error{thread.ErrThreadNotFound, thread.ErrThreadDeleted},
			Right:      admission.Operate,
			Without:    []string{IfMatch, IdempotencyKey},
		},
	}}
}
