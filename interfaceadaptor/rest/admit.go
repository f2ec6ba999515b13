package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/extras/access"
)

// The error codes of refused callers.
const (
	unauthenticated   = "unauthenticated"
	forbidden         = "forbidden"
	tooManyRequests   = "too_many_requests"
	issuerUnavailable = "issuer_unavailable"
)

const executorField = "executor_id"

// admit identifies the caller and checks whether they have one of the scopes.
func (a *api) admit(w http.ResponseWriter, r *http.Request, scopes ...access.Scope) (access.Principal, error) {
	principal, err := a.settings.Gate.Enter(w.Header(), r)
	if err != nil {
		return principal, err
	}
	return principal, principal.Needs(scopes...)
}

// tenant returns the tenant that the operation works in: the principal's, if it is active. The registry of tenants is
// that of the empty code, whichever tenant the operator's token is of.
func (a *api) tenant(ctx context.Context, op Operation, principal access.Principal, named es.Tenant) (es.Tenant, error) {
	if op.Global {
		return es.Tenant(""), nil
	}
	if op.Operators && principal.IsOperator() && named != (es.Tenant("")) {
		return named, nil
	}
	tenant, err := principal.In(named)
	if err != nil || op.Operators && principal.Needs(access.Operate) == nil {
		return tenant, err
	}
	return tenant, a.settings.Tenants.Admit(ctx, tenant)
}

// read decodes a body and the executor, who must be one that the principal may act as.
func read[B interface{ executor() ident.UserID }](s bodyShape[B], c Conditions, raw []byte) (body B, caller es.Caller, err error) {
	if body, err = s.decode(raw, absentFor(c.principal)); err != nil {
		return body, c.Caller, err
	}
	executor, err := c.principal.For(body.executor())
	c.Caller.Executor = executor.String()
	return body, c.Caller, err
}

// absentFor returns the fields that the principal may leave out, with their values.
func absentFor(p access.Principal) map[string]json.RawMessage {
	if !p.IsVerified() {
		return nil
	}
	return map[string]json.RawMessage{executorField: json.RawMessage(`"` + p.Account().String() + `"`)}
}

// deny sends the response for a refused caller.
func deny(w http.ResponseWriter, err error) {
	problemOfDenial(w.Header(), err).write(w)
}

// problemOfDenial converts the error of a refused caller, and sets the headers that the answer needs.
func problemOfDenial(answer http.Header, err error) *Problem {
	if refusal := (*access.Refusal)(nil); errors.As(err, &refusal) {
		refusal.SetHeaders(answer)
		return problemOfRefusal(refusal)
	}
	return problemOf(err)
}

func problemOfRefusal(refusal *access.Refusal) *Problem {
	code := map[access.Reason]string{
		access.NotAuthenticated: unauthenticated,
		access.NotAllowed:       forbidden,
		access.TooMany:          tooManyRequests,
		access.NotNow:           issuerUnavailable,
	}[refusal.Reason]
	return newProblem(refusal.Status(), code, refusal.Detail)
}
