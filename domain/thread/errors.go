package thread

import (
	"example.com/threads/domain/ident"
)

// The rejections of well-formed commands. Compare with [errors.Is].
var (
	ErrThreadNotFound  = ident.NotFound("thread_not_found", "the thread does not exist")
	ErrThreadExists    = ident.Conflict("concurrent_update", "the thread exists already")
	ErrThreadDeleted   = ident.Conflict("thread_deleted", "the thread is deleted")
	ErrMemberNotFound  = ident.NotFound("member_not_found", "the user account is not a member of the thread")
	ErrMessageNotFound = ident.NotFound("message_not_found", "the message does not exist in the thread")
	ErrNotMember       = ident.Forbidden("not_a_member", "only a member of the thread may do this")
	ErrNotAdmin        = ident.Forbidden("not_an_admin", "only an Admin of the thread may do this")
	ErrNotSender       = ident.Forbidden("not_the_sender", "only the sender of the message may do this")
	ErrAlreadyMember   = ident.Conflict("already_a_member", "the user account is a member already")
	ErrNameUnchanged   = ident.Conflict("name_unchanged", "the thread has this name already")
	ErrRoleUnchanged   = ident.Conflict("role_unchanged", "the member has this role already")
	ErrTextUnchanged   = ident.Conflict("text_unchanged", "the message has this text already")
	ErrLastAdmin       = ident.Conflict("last_admin", "the last Admin can neither leave while others remain nor be demoted")
)

// Rejections returns all rejections, for adapters that map each of them to a response.
func Rejections() []error {
	return []error{
		ErrThreadNotFound, ErrThreadExists, ErrThreadDeleted, ErrMemberNotFound, ErrMessageNotFound, ErrNotMember, ErrNotAdmin,
		ErrNotSender, ErrAlreadyMember, ErrNameUnchanged, ErrRoleUnchanged, ErrTextUnchanged, ErrLastAdmin,
	}
}
