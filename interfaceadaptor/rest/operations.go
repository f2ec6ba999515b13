package rest

import (
	"cmp"
	"net/http"
	"slices"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/access"
)

// operation is something that clients can ask for. All operations are served by [api.serve] and described by
// [document].
type operation struct {
	path        string
	summary     string
	description string
	status      int // of success; 0: 200
	perform     performer
	rejections  []error      // those of the domain that can come back
	scope       access.Scope // that a token needs; empty: access.Write
	without     []string     // request headers that make no sense here: one that carries a condition is refused
}

// What the operations on a thread are rejected for, whatever they are.
var (
	byMembers = []error{thread.ErrThreadNotFound, thread.ErrThreadDeleted, thread.ErrNotMember}
	byAdmins  = append(byMembers[:3:3], thread.ErrNotAdmin)
)

// operations is the table of all operations.
func operations(services Services) []operation {
	return slices.Concat(onThreads(services.Threads), onAccounts(services.Accounts))
}

func onThreads(threads Threads) []operation {
	return []operation{
		{
			path: "/threads/create", status: http.StatusCreated, summary: "Create a thread",
			description: "Begins a thread. The executor becomes its first member, as Admin.",
			perform:     handle[createThread](threads, threadAnswerOf),
			without:     []string{ifMatch},
		},
		{
			path: "/threads/rename", summary: "Rename a thread",
			description: "Gives the thread another name. Admins only.",
			perform:     handle[renameThread](threads, threadAnswerOf),
			rejections:  append(byAdmins[:4:4], thread.ErrNameUnchanged),
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
			rejections:  byMembers,
		},
		{
			path: "/threads/edit_message", summary: "Edit a message",
			description: "Gives a message another text. Its sender only.",
			perform:     handle[editMessage](threads, messageAnswerOf),
			rejections:  append(byMembers[:3:3], thread.ErrMessageNotFound, thread.ErrNotSender, thread.ErrTextUnchanged),
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
			without:     []string{ifMatch, idempotencyKey},
		},
	}
}

func (o operation) needs() access.Scope { return cmp.Or(o.scope, access.Write) }

func (o operation) successStatus() int {
	if o.status == 0 {
		return http.StatusOK
	}
	return o.status
}
