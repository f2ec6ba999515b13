package thread

import (
	"errors"
	"fmt"
)

// The rejections: why a command that is well formed does not happen. Compare with [errors.Is].
var (
	ErrThreadNotFound  = errors.New("the thread does not exist")
	ErrThreadExists    = errors.New("the thread exists already")
	ErrThreadDeleted   = errors.New("the thread is deleted")
	ErrMemberNotFound  = errors.New("the user account is not a member of the thread")
	ErrMessageNotFound = errors.New("the message does not exist in the thread")
	ErrNotMember       = errors.New("only a member of the thread may do this")
	ErrNotAdmin        = errors.New("only an Admin of the thread may do this")
	ErrNotSender       = errors.New("only the sender of the message may do this")
	ErrAlreadyMember   = errors.New("the user account is a member already")
	ErrNameUnchanged   = errors.New("the thread has this name already")
	ErrRoleUnchanged   = errors.New("the member has this role already")
	ErrTextUnchanged   = errors.New("the message has this text already")
	ErrLastAdmin       = errors.New("the last Admin can neither leave while others remain nor be demoted")
)

// Rejections lists every rejection, for those who must answer each of them.
func Rejections() []error {
	return []error{
		ErrThreadNotFound, ErrThreadExists, ErrThreadDeleted, ErrMemberNotFound, ErrMessageNotFound, ErrNotMember, ErrNotAdmin,
		ErrNotSender, ErrAlreadyMember, ErrNameUnchanged, ErrRoleUnchanged, ErrTextUnchanged, ErrLastAdmin,
	}
}

// InvalidError says that a value can't be what its type stands for.
type InvalidError struct {
	Field  string // what was to be read, in the words of the domain
	Reason string // what is expected, to be read after the field's name
}

func (e *InvalidError) Error() string { return fmt.Sprintf("%s %s", e.Field, e.Reason) }
