package graphql

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

// The codes of errors in extensions.code.
const (
	codeNotFound        = "NOT_FOUND"
	codeBadInput        = "BAD_USER_INPUT"
	codeBehind          = "READ_MODEL_BEHIND"
	CodeTooComplex      = "TOO_COMPLEX"
	codeUnauthenticated = "UNAUTHENTICATED"
	codeForbidden       = "FORBIDDEN"
	codeTooManyRequests = "TOO_MANY_REQUESTS"
	CodeUnavailable     = "UNAVAILABLE"
	codeInternal        = "INTERNAL"

	internalMessage = "something went wrong; it has been logged with the X-Request-Id of this answer"
)

// answers maps each kind of error to its code and message; without a message here, the error's own is used.
var answers = map[es.Kind]struct{ code, message string }{
	es.Invalid:     {code: codeBadInput},
	es.NotFound:    {code: codeNotFound},
	es.Forbidden:   {code: codeForbidden},
	es.Behind:      {code: codeBehind},
	es.Unavailable: {CodeUnavailable, "a store did not answer in time; try again"},
	es.Canceled:    {CodeUnavailable, "the request ended before it was answered"},
	// of the journal: an operator must repair it
	es.Inconsistent: {codeInternal, internalMessage},
	es.Internal:     {codeInternal, internalMessage},
	// only commands have these
	es.Conflict:        {codeInternal, internalMessage},
	es.VersionMismatch: {codeInternal, internalMessage},
	es.KeyReused:       {codeInternal, internalMessage},
}

// denials are the codes of refused requests, by the status of their refusal.
var denials = map[int]string{
	http.StatusUnauthorized:       codeUnauthenticated,
	http.StatusForbidden:          codeForbidden,
	http.StatusTooManyRequests:    codeTooManyRequests,
	http.StatusServiceUnavailable: CodeUnavailable,
}

// Refusal is an error with a code of its own: a limit was reached.
type Refusal struct{ Code, Message string }

func (r *Refusal) Error() string { return r.Message }

// resolverError marks an error of a resolver, in contrast to one of the GraphQL engine.
type resolverError struct{ error }

func (e resolverError) Unwrap() error { return e.error }

// Failure marks an error of what extends the engine as one that a resolver could have. // extra:erasure {
func Failure(err error) error { return resolverError{err} } // extra:erasure }

// presenter turns errors into those that clients see, and logs the cause.
type presenter struct{ log *slog.Logger }

func (p presenter) present(ctx context.Context, err error) *gqlerror.Error {
	shown := &gqlerror.Error{Message: err.Error(), Path: graphql.GetPath(ctx)}
	if fromEngine, is := errors.AsType[*gqlerror.Error](err); is {
		shown.Message, shown.Locations = fromEngine.Message, fromEngine.Locations
		if fromEngine.Path != nil {
			shown.Path = fromEngine.Path
		}
	}
	code := codeBadInput // the engine's errors are about the request
	var ours resolverError
	var refused *Refusal
	var denied *admission.Refusal
	switch {
	case errors.As(err, &denied):
		code, shown.Message = denials[denied.Status], denied.Detail
	case errors.As(err, &refused):
		code, shown.Message = refused.Code, refused.Message
	case errors.As(err, &ours):
		kind := es.KindOf(ours.error)
		answer := answers[kind]
		code, shown.Message = answer.code, ours.Error()
		if answer.message != "" {
			shown.Message = answer.message
		}
		if reason := es.PublicReason(ours.error); reason != "" && kind == es.Unavailable {
			shown.Message = reason
		}
		switch {
		case code == codeInternal:
			p.log.ErrorContext(ctx, "a query failed", "path", shown.Path.String(), "error", ours.error)
		case kind == es.Unavailable:
			p.log.WarnContext(ctx, "a store did not answer", "path", shown.Path.String(), "error", ours.error)
		}
	}
	shown.Extensions = map[string]any{"code": code}
	return shown
}

func (p presenter) recovered(ctx context.Context, reason any) error {
	p.log.ErrorContext(ctx, "panic in a query", "panic", reason, "stack", string(debug.Stack()))
	return resolverError{errors.New(internalMessage)} // clients may see this text
}

// Response returns an answer with only an error.
func (p presenter) Response(ctx context.Context, err error) *graphql.Response {
	return &graphql.Response{Errors: gqlerror.List{p.present(ctx, resolverError{err})}}
}
