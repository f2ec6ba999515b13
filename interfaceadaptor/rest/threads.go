package rest

import (
	"context"
	"net/http"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/usecase/chat"
)

// The operations on threads: their bodies, their answers, and the table.

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

type renameThread struct {
	OnThread
	Name thread.Name `json:"name" doc:"The thread's new name: 1 to 64 characters after trimming, none of them a control character." minLength:"1" maxLength:"64" example:"release planning"`
}

type deleteThread struct{ OnThread }

type addMember struct {
	OnThread
	User ident.UserID `json:"user_account_id" doc:"The user account to let in."`
	Role thread.Role  `json:"role" doc:"What the member may do." enum:"Admin,Member" example:"Member"`
}

type removeMember struct {
	OnThread
	User ident.UserID `json:"user_account_id" doc:"The user account to put out; the executor's own to leave."`
}

type changeMemberRole struct {
	OnThread
	User ident.UserID `json:"user_account_id" doc:"The member's user account."`
	Role thread.Role  `json:"role" doc:"What the member may do from now on." enum:"Admin,Member" example:"Member"`
}

type postMessage struct {
	OnThread
	Text thread.Text `json:"text" doc:"What to say: 1 to 4000 characters after trimming, no control characters but newline and tab." minLength:"1" maxLength:"4000" example:"Good morning!"`
}

type editMessage struct {
	OnThread
	Message thread.MessageID `json:"message_id" doc:"The message."`
	Text    thread.Text      `json:"text" doc:"The new text: 1 to 4000 characters after trimming, no control characters but newline and tab." minLength:"1" maxLength:"4000" example:"Good morning!"`
}

type deleteMessage struct {
	OnThread
	Message thread.MessageID `json:"message_id" doc:"The message."`
}

type takeSnapshot struct{ OnThread }

// ThreadAnswer is the answer to a command on a thread.
type ThreadAnswer struct {
	ThreadID string `json:"thread_id" doc:"The thread." example:"01H42K4ABWQ5V2XQEP3A48VE0Z"`
	Version  uint64 `json:"version" doc:"The thread's version after the command: 1, 2, 3 and so on." minimum:"1" example:"7"`
}

type createdAnswer struct {
	ThreadAnswer
	Code string `json:"code,omitempty" doc:"The short name that people call the thread by: unique in the tenant, and never changed. A repeat of a creation from before there were codes has none." example:"THREAD-000001"`
}

type memberAnswer struct {
	ThreadAnswer
	MemberID string `json:"member_id" doc:"The member that the command was about." example:"01H42KBHCWA8NE32M49YH544H1"`
}

type messageAnswer struct {
	ThreadAnswer
	MessageID string `json:"message_id" doc:"The message that the command was about." example:"01H42KBHCWBDTZYQ7P78T8BTWX"`
}

type snapshotAnswer struct {
	ThreadID        string `json:"thread_id" doc:"The thread." example:"01H42K4ABWQ5V2XQEP3A48VE0Z"`
	SnapshotVersion uint64 `json:"snapshot_version" doc:"The version of the state that was stored." minimum:"1" example:"7"`
}

func threadAnswerOf(r es.Result) ThreadAnswer { return ThreadAnswer{r.Key.ID, r.Version} }
func createdAnswerOf(r es.Result) createdAnswer {
	return createdAnswer{threadAnswerOf(r), r.About[chat.AnswerCode]}
}
func memberAnswerOf(r es.Result) memberAnswer {
	return memberAnswer{threadAnswerOf(r), r.About[chat.AnswerMember]}
}
func messageAnswerOf(r es.Result) messageAnswer {
	return messageAnswer{threadAnswerOf(r), r.About[chat.AnswerMessage]}
}

// The rejections that all operations on a thread can return.
var (
	byMembers = []error{thread.ErrThreadNotFound, thread.ErrThreadDeleted, thread.ErrNotMember}
	byAdmins  = append(byMembers[:3:3], thread.ErrNotAdmin)
)

// Threads returns threads with their operations.
func Threads(threads chat.Service[thread.Command]) Aggregate {
	return Aggregate{Name: "threads", About: "Commands on threads, their members and their messages.", Operations: []Operation{
		{
			Path: "/threads/create", Status: http.StatusCreated, Summary: "Create a thread",
			Description: "Begins a thread, and gives it the next code of the tenant. The executor becomes its first member, as Admin.",
			Do: Command(threads, createdAnswerOf, func(b createThread) threadRequest {
				c := thread.Create{Executor: b.Executor, Member: NewID[thread.Member](), Name: b.Name}
				return threadRequest{ID: NewID[thread.Thread]().String(), Begins: true, Command: c, Name: thread.CommandName(c)}
			}),
			Without: []string{IfMatch},
		},
		{
			Path: "/threads/rename", Summary: "Rename a thread",
			Description: "Gives the thread another name. Admins only.",
			Do: Command(threads, threadAnswerOf, func(b renameThread) threadRequest {
				return b.request(thread.Rename{Executor: b.Executor, Name: b.Name})
			}),
			Rejections: append(byAdmins[:4:4], thread.ErrNameUnchanged),
		},
		{
			Path: "/threads/delete", Summary: "Delete a thread",
			Description: "Ends the thread: from then on it accepts nothing and is shown to nobody. Admins only.",
			Do: Command(threads, threadAnswerOf, func(b deleteThread) threadRequest {
				return b.request(thread.Delete{Executor: b.Executor})
			}),
			Rejections: byAdmins,
		},
		{
			Path: "/threads/add_member", Summary: "Add a member",
			Description: "Lets a user account in. Admins only.",
			Do: Command(threads, memberAnswerOf, func(b addMember) threadRequest {
				return b.request(thread.AddMember{Executor: b.Executor, Member: NewID[thread.Member](), User: b.User, Role: b.Role})
			}),
			Rejections: append(byAdmins[:4:4], thread.ErrAlreadyMember),
		},
		{
			Path: "/threads/remove_member", Summary: "Remove a member, or leave",
			Description: "Puts a user account out. Admins only, but anyone may leave by naming themselves. The last Admin can't leave while others remain.",
			Do: Command(threads, memberAnswerOf, func(b removeMember) threadRequest {
				return b.request(thread.RemoveMember{Executor: b.Executor, User: b.User})
			}),
			Rejections: append(byAdmins[:4:4], thread.ErrMemberNotFound, thread.ErrLastAdmin),
		},
		{
			Path: "/threads/change_member_role", Summary: "Change a member's role",
			Description: "Makes a member an Admin or an Admin a member. Admins only. The last Admin can't be demoted.",
			Do: Command(threads, memberAnswerOf, func(b changeMemberRole) threadRequest {
				return b.request(thread.ChangeMemberRole{Executor: b.Executor, User: b.User, Role: b.Role})
			}),
			Rejections: append(byAdmins[:4:4], thread.ErrMemberNotFound, thread.ErrRoleUnchanged, thread.ErrLastAdmin),
		},
		{
			Path: "/threads/post_message", Summary: "Post a message",
			Description: "Adds a message at the end of the thread. Members only.",
			Do: Command(threads, messageAnswerOf, func(b postMessage) threadRequest {
				return b.request(thread.PostMessage{Executor: b.Executor, Message: NewID[thread.Message](), Text: b.Text})
			}),
			Rejections: byMembers,
		},
		{
			Path: "/threads/edit_message", Summary: "Edit a message",
			Description: "Gives a message another text. Its sender only.",
			Do: Command(threads, messageAnswerOf, func(b editMessage) threadRequest {
				return b.request(thread.EditMessage{Executor: b.Executor, Message: b.Message, Text: b.Text})
			}),
			Rejections: append(byMembers[:3:3], thread.ErrMessageNotFound, thread.ErrNotSender, thread.ErrTextUnchanged),
		},
		{
			Path: "/threads/delete_message", Summary: "Delete a message",
			Description: "Takes a message away. Its sender or an Admin.",
			Do: Command(threads, messageAnswerOf, func(b deleteMessage) threadRequest {
				return b.request(thread.DeleteMessage{Executor: b.Executor, Message: b.Message})
			}),
			Rejections: append(byMembers[:3:3], thread.ErrMessageNotFound, thread.ErrNotSender),
		},
		{
			Path: "/threads/snapshot", Summary: "Store a snapshot",
			Description: "Stores the thread's latest state, for it to be loaded from. An operation, not a command: no event follows and no version. Sending it again is harmless.",
			Do: Doing[snapshotAnswer](func(ctx context.Context, c Conditions, body takeSnapshot) (Reply, error) {
				version, err := threads.Snapshot(ctx, c.Caller, body.Thread.String())
				return Reply{Body: snapshotAnswer{body.Thread.String(), version}}, err
			}),
			Rejections: []error{thread.ErrThreadNotFound, thread.ErrThreadDeleted, es.ErrConcurrentUpdate},
			Right:      admission.Operate,
			Without:    []string{IfMatch, IdempotencyKey},
		},
	}}
}
