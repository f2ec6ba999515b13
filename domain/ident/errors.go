package ident

import "fmt"

// InvalidError: a value is not valid for its type.
type InvalidError struct {
	Field  string // name of the value, as used in the domain
	Reason string // what is expected; read after the field's name
}

func (e *InvalidError) Error() string { return fmt.Sprintf("%s %s", e.Field, e.Reason) }

// Invalid returns the field and what is expected of it.
func (e *InvalidError) Invalid() (field, reason string) { return e.Field, e.Reason }

// Rejection is the reason why a well-formed command is rejected. Each is declared once, with class and code, and
// compared with [errors.Is].
type Rejection struct{ class, code, text string }

// The classes of rejections, by what the caller can do about them.
const (
	ClassNotFound  = "not_found" // it does not exist, or this caller may not see it
	ClassForbidden = "forbidden" // the caller may not do this
	ClassConflict  = "conflict"  // it contradicts the current state
)

// NotFound declares a rejection because something does not exist. code is for programs, text for people.
func NotFound(code, text string) *Rejection { return &Rejection{ClassNotFound, code, text} }

// Forbidden declares a rejection because the caller lacks the right.
func Forbidden(code, text string) *Rejection { return &Rejection{ClassForbidden, code, text} }

// Conflict declares a rejection because the command contradicts the state.
func Conflict(code, text string) *Rejection { return &Rejection{ClassConflict, code, text} }

func (r *Rejection) Error() string { return r.text }

// Class returns the class.
func (r *Rejection) Class() string { return r.class }

// Code returns the rejection's code. It is part of the API contract and must never change.
func (r *Rejection) Code() string { return r.code }
