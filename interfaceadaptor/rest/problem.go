package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

// Problem is the body of every error response (RFC 9457).
type Problem struct {
	Status         int          `json:"status" doc:"The HTTP status." example:"409"`
	Title          string       `json:"title" doc:"The status in words." example:"Conflict"`
	Detail         string       `json:"detail" doc:"What went wrong, for people." example:"the thread has this name already"`
	Code           string       `json:"code" doc:"What went wrong, for programs." example:"name_unchanged"`
	Errors         []FieldError `json:"errors,omitempty" doc:"With invalid_request: every invalid field."`
	CurrentVersion uint64       `json:"current_version,omitempty" doc:"With version_mismatch: the version of the aggregate." minimum:"1"`
}

// Error makes a problem an error, with which a server can answer.
func (p *Problem) Error() string { return p.Detail }

// The codes of problems that the domain has no code for.
const (
	Malformed            = "malformed_request"
	PathNotFound         = "path_not_found"
	BodyTooLarge         = "body_too_large"
	unsupportedMediaType = "unsupported_media_type"
	invalidRequest       = "invalid_request"
	versionMismatch      = "version_mismatch"
	concurrentUpdate     = "concurrent_update"
	storeUnavailable     = "store_unavailable"
	storeInconsistent    = "store_inconsistent"
	internal             = "internal"
)

// ofKinds are the problems of kinds of errors. The code and the text of a rejection replace theirs.
var ofKinds = map[es.Kind]*Problem{
	es.Invalid:         NewProblem(http.StatusUnprocessableEntity, "", ""),
	es.NotFound:        NewProblem(http.StatusNotFound, "", ""),
	es.Forbidden:       NewProblem(http.StatusForbidden, "", ""),
	es.Conflict:        NewProblem(http.StatusConflict, concurrentUpdate, es.ErrConcurrentUpdate.Error()),
	es.VersionMismatch: NewProblem(http.StatusPreconditionFailed, versionMismatch, ""),
	es.KeyReused:       NewProblem(http.StatusUnprocessableEntity, "idempotency_key_reused", es.ErrKeyReused.Error()),
	es.Unavailable:     unavailable,
	es.Behind:          unavailable,
	es.Canceled:        unavailable, // by this server: if the client cancels, nobody reads the response
	es.Inconsistent: NewProblem(http.StatusInternalServerError, storeInconsistent,
		"what is stored of it contradicts itself; sending it again does not help, an operator has to mend it; it has been logged"),
	es.Internal: NewProblem(http.StatusInternalServerError, internal,
		"something went wrong; it has been logged with the X-Request-Id of this answer"),
}

var unavailable = NewProblem(http.StatusServiceUnavailable, storeUnavailable, es.ErrUnavailable.Error())

// ProblemOf converts an error of a use case, using the table's text and never the wrapped error's.
func ProblemOf(err error) *Problem {
	var problem *Problem
	var mismatch *es.VersionMismatchError
	var fields invalidBody
	var refusal *admission.Refusal
	var invalid interface{ Invalid() (field, reason string) }
	var rejection interface { // of the domain, or es.Reject
		error
		Code() string
	}
	switch {
	case errors.As(err, &problem):
		return problem
	case errors.As(err, &refusal):
		return NewProblem(refusal.Status, refusal.Code, refusal.Detail)
	case errors.As(err, &fields):
		return InvalidFields(fields)
	case errors.As(err, &invalid):
		field, reason := invalid.Invalid()
		return InvalidFields([]FieldError{{"body." + field, reason}})
	}
	ofKind := *ofKinds[es.KindOf(err)]
	switch {
	case ofKind.Status >= http.StatusInternalServerError:
		ofKind.Detail = cmp.Or(es.PublicReason(err), ofKind.Detail)
	case errors.As(err, &mismatch):
		ofKind.Detail, ofKind.CurrentVersion = mismatch.Error(), mismatch.Current
	case errors.As(err, &rejection):
		ofKind.Code, ofKind.Detail = rejection.Code(), rejection.Error()
	}
	return &ofKind
}

// InvalidFields returns the problem of a request with invalid fields.
func InvalidFields(fields []FieldError) *Problem {
	problem := NewProblem(http.StatusUnprocessableEntity, invalidRequest, "the request has invalid fields; errors tells which")
	problem.Errors = fields
	return problem
}

func malformed(format string, args ...any) *Problem {
	return NewProblem(http.StatusBadRequest, Malformed, fmt.Sprintf(format, args...))
}

func NewProblem(status int, code, detail string) *Problem {
	return &Problem{Status: status, Title: http.StatusText(status), Detail: detail, Code: code}
}

// transient reports whether the same request may succeed a moment later.
func (p *Problem) transient() bool { return p.Code == storeUnavailable || p.Code == concurrentUpdate }

func (p *Problem) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", MediaProblem)
	if p.transient() {
		w.Header().Set(retryAfter, "1")
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // fails only when the client has gone
}
