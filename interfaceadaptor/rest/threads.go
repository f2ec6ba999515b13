package rest

import (
	"net/http"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/extras/access"
)

// The operations on threads: their bodies, and the table.

// threadRequest is what a body tells of a request for a command on a thread.
type threadRequest = es.Request[thread.Command]

// OnThread holds the executor and the thread.
type OnThread struct {
	Executor
	Thread thread.ID `json:"thread_id" doc:"The thread."`
}

func (o OnThread) thread() thread.ID { return o.Thread }

func (o OnThread) request(c thread.Command) threadRequest {
	return threadRequest{ID: o.Thread.String(), Command: c, Name: thread.CommandName(c)}
}

type createThread struct {
	Executor
	Name thread.Name `json:"name" doc:"The thread's name: 1 to 64 characters after trimming, none of them a control character." minLength:"1" maxLength:"64" example:"release planning"`
}

func (b createThread) asked() threadRequest {
	c := thread.Create{Executor: b.executor(), Member: newID[thread.Member](), Name: b.Name}
	return threadRequest{ID: newID[thread.Thread]().String(), Begins: true, Command: c, Name: thread.CommandName(c)}
}

type renameThread struct {
	OnThread
	Name thread.Name `json:"name" doc:"The thread's new name: 1 to 64 characters after trimming, none of them a control character." minLength:"1" maxLength:"64" example:"release planning"`
}

func (b renameThread) asked() threadRequest {
	return b.request(thread.Rename{Executor: b.executor(), Name: b.Name})
}

type deleteThread struct{ OnThread }

func (b deleteThread) asked() threadRequest { return b.request(thread.Delete{Executor: b.executor()}) }

type addMember struct {
	OnThread
	User ident.UserID `json:"user_account_id" doc:"The user account to let in."`
	Role thread.Role  `json:"role" doc:"What the member may do." enum:"Admin,Member" example:"Member"`
}

func (b addMember) asked() threadRequest {
	return b.request(thread.AddMember{Executor: b.executor(), Member: newID[thread.Member](), User: b.User, Role: b.Role})
}

type removeMember struct {
	OnThread
	User ident.UserID `json:"user_account_id" doc:"The user account to put out; the executor's own to leave."`
}

func (b removeMember) asked() threadRequest {
	return b.request(thread.RemoveMember{Executor: b.executor(), User: b.User})
}

type changeMemberRole struct {
	OnThread
	User ident.UserID `json:"user_account_id" doc:"The member's user account."`
	Role thread.Role  `json:"role" doc:"What the member may do from now on." enum:"Admin,Member" example:"Member"`
}

func (b changeMemberRole) asked() threadRequest {
	return b.request(thread.ChangeMemberRole{Executor: b.executor(), User: b.User, Role: b.Role})
}

type postMessage struct {
	OnThread
	Text thread.Text `json:"text" doc:"What to say: 1 to 4000 characters after trimming, no control characters but newline and tab." minLength:"1" maxLength:"4000" example:"Good morning!"`
}

func (b postMessage) asked() threadRequest {
	return b.request(thread.PostMessage{Executor: b.executor(), Message: newID[thread.Message](), Text: b.Text})
}

type editMessage struct {
	OnThread
	Message thread.MessageID `json:"message_id" doc:"The message."`
	Text    thread.Text      `json:"text" doc:"The new text: 1 to 4000 characters after trimming, no control characters but newline and tab." minLength:"1" maxLength:"4000" example:"Good morning!"`
}

func (b editMessage) asked() threadRequest {
	return b.request(thread.EditMessage{Executor: b.executor(), Message: b.Message, Text: b.Text})
}

type deleteMessage struct {
	OnThread
	Message thread.MessageID `json:"message_id" doc:"The message."`
}

func (b deleteMessage) asked() threadRequest {
	return b.request(thread.DeleteMessage{Executor: b.executor(), Message: b.Message})
}

type takeSnapshot struct{ OnThread }

// The rejections that all operations on a thread can return.
var (
	byMembers = []error{thread.ErrThreadNotFound, thread.ErrThreadDeleted, thread.ErrNotMember}
	byAdmins  = append(byMembers[:3:3], thread.ErrNotAdmin)
)

// Threads returns threads with their operations.
func Threads(threads Service[thread.Command]) Aggregate {
	return Aggregate{name: "threads", about: "Commands on threads, their members and their messages.", operations: []operation{
		{
			path: "/threads/create", status: http.StatusCreated, summary: "Create a thread",
			description: "Begins a thread, and gives it the next code of the tenant. The executor becomes its first member, as Admin.",
			perform:     handle[createThread](threads, createdAnswerOf),
			rejections:  []error{account.ErrAccountErased},
			without:     []string{ifMatch},
		},
		{
			path: "/threads/rename", summary: "Rename a thread",
			description: "Gives the thread another name. Admins only.",
			perform:     handle[renameThread](threads, threadAnswerOf),
			rejections:  append(byAdmins[:4:4], thread.ErrNameUnchanged, account.ErrAccountErased),
		},
		{
			path: "/threads/delete", summary: "Delete a thread",
			description: "Ends the thread: from then on it accepts nothing and is shown to nobody. Admins only.",
			perform:     handle[deleteThread](threads, threadAnswerOf),
			rejections:  byAdmins,
		},
		{
			path: "/threads/add_member", summary: "Add a member",
			description: "Lets a user account in. Admins only.",
			perform:     handle[addMember](threads, memberAnswerOf),
			rejections:  append(byAdmins[:4:4], thread.ErrAlreadyMember),
		},
		{
			path: "/threads/remove_member", summary: "Remove a member, or leave",
			description: "Puts a user account out. Admins only, but anyone may leave by naming themselves. The last Admin can't leave while others remain.",
			perform:     handle[removeMember](threads, memberAnswerOf),
			rejections:  append(byAdmins[:4:4], thread.ErrMemberNotFound, thread.ErrLastAdmin),
		},
		{
			path: "/threads/change_member_role", summary: "Change a member's role",
			description: "Makes a member an Admin or an Admin a member. Admins only. The last Admin can't be demoted.",
			perform:     handle[changeMemberRole](threads, memberAnswerOf),
			rejections:  append(byAdmins[:4:4], thread.ErrMemberNotFound, thread.ErrRoleUnchanged, thread.ErrLastAdmin),
		},
		{
			path: "/threads/post_message", summary: "Post a message",
			description: "Adds a message at the end of the thread. Members only.",
			perform:     handle[postMessage](threads, messageAnswerOf),
			rejections:  append(byMembers[:3:3], account.ErrAccountErased),
		},
		{
			path: "/threads/edit_message", summary: "Edit a message",
			description: "Gives a message another text. Its sender only.",
			perform:     handle[editMessage](threads, messageAnswerOf),
			rejections:  append(byMembers[:3:3], thread.ErrMessageNotFound, thread.ErrNotSender, thread.ErrTextUnchanged, account.ErrAccountErased),
		},
		{
			path: "/threads/delete_message", summary: "Delete a message",
			description: "Takes a message away. Its sender or an Admin.",
			perform:     handle[deleteMessage](threads, messageAnswerOf),
			rejections:  append(byMembers[:3:3], thread.ErrMessageNotFound, thread.ErrNotSender),
		},
		{
			path: "/threads/snapshot", summary: "Store a snapshot",
			description: "Stores the thread's latest state, for it to be loaded from. An operation, not a command: no event follows and no version. Sending it again is harmless.",
			perform:     snapshot(threads),
			rejections:  []error{thread.ErrThreadNotFound, thread.ErrThreadDeleted},
			scope:       access.Operate,
			without:     []string{ifMatch, idempotencyKey, prefer},
		},
	}}
}
