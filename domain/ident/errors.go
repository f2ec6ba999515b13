package ident

import "fmt"

// InvalidError says that a value can't be what its type stands for.
type InvalidError struct {
	Field  string // what was to be read, in the words of the domain
	Reason string // what is expected, to be read after the field's name
}

func (e *InvalidError) Error() string { return fmt.Sprintf("%s %s", e.Field, e.Reason) }

// Invalid tells the field and what is expected of it.
func (e *InvalidError) Invalid() (field, reason string) { return e.Field, e.Reason }

// Rejection says why a command that is well formed does not happen. Each is declared once, with its class and its code,
// and compared with [errors.Is].
type Rejection struct{ class, code, text string }

// The classes of rejections: what the one who asked can do about it.
const (
	ClassNotFound  = "not_found" // it does not exist, or not for this caller
	ClassForbidden = "forbidden" // the caller may not do this
	ClassConflict  = "conflict"  // it contradicts the state as it is
)

// NotFound declares a rejection of something that does not exist. The code is what clients read, the text what people do.
func NotFound(code, text string) *Rejection { return &Rejection{ClassNotFound, code, text} }

// Forbidden declares a rejection of somebody who may not do this.
func Forbidden(code, text string) *Rejection { return &Rejection{ClassForbidden, code, text} }

// Conflict declares a rejection of what contradicts the state.
func Conflict(code, text string) *Rejection { return &Rejection{ClassConflict, code, text} }

func (r *Rejection) Error() string { return r.text }

// Class is one of the classes above.
func (r *Rejection) Class() string { return r.class }

// Code is the rejection's name for clients. It is a contract: it never changes.
func (r *Rejection) Code() string { return r.code }
