package rest

import (
	"encoding/json"
	"errors"
	"net/http"

	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/access"
	"example.com/threads/usecase"
)

// The codes of those who are not let in.
const (
	unauthenticated   = "unauthenticated"
	forbidden         = "forbidden"
	tooManyRequests   = "too_many_requests"
	issuerUnavailable = "issuer_unavailable"
)

const executorField = "executor_id"

// admit finds out who asks, and whether they may ask for the operation at all.
func (a *api) admit(w http.ResponseWriter, r *http.Request, op operation) (access.Principal, error) {
	principal, err := a.settings.Gate.Enter(w.Header(), r)
	if err != nil {
		return principal, err
	}
	return principal, principal.Needs(op.needs())
}

// read reads a body, and who acts: as the body names it, where the principal may be that.
func read[B interface{ executor() ident.UserID }](s shape[B], c conditions, raw []byte) (body B, said map[string]string, caller usecase.Caller, err error) {
	if body, said, err = s.decode(raw, absentFor(c.principal)); err != nil {
		return body, nil, c.caller, err
	}
	executor, err := c.principal.For(body.executor())
	c.caller.Executor = executor.String()
	return body, said, c.caller, err
}

// absentFor are the fields that a principal may leave out, and what they then are.
func absentFor(p access.Principal) map[string]json.RawMessage {
	if !p.IsVerified() {
		return nil
	}
	return map[string]json.RawMessage{executorField: json.RawMessage(`"` + p.Account().String() + `"`)}
}

// deny answers somebody who is not let in.
func deny(w http.ResponseWriter, err error) {
	var refusal *access.Refusal
	if !errors.As(err, &refusal) {
		problemOf(err).write(w)
		return
	}
	refusal.SetHeaders(w.Header())
	problemOfRefusal(refusal).write(w)
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
