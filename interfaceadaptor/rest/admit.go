package rest

import (
	"encoding/json"
	"net/http"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

const executorField = "executor_id"

// conditions admits a request and returns who sends it and what its headers say.
func (a *api) conditions(w http.ResponseWriter, r *http.Request, op Operation) (Conditions, *Problem) {
	c, unreadable := readHeaders(a.headers, r.Header, op.Without)
	principal, err := admission.Of(r).Enter(admission.Ask{
		Rights: op.needs(), Tenant: c.Caller.Tenant, AnyTenant: op.Operators || op.Global,
	})
	switch {
	case err != nil:
		return c, a.problemOf(w, r, err)
	case unreadable != nil:
		return c, unreadable
	}
	c.Principal = principal
	c.Caller.Tenant, c.Caller.ClientIP = principal.Tenant, principal.ClientIP()
	if op.Global {
		c.Caller.Tenant = ""
	}
	c.Caller.Source = a.settings.Source + " " + op.Path
	return c, nil
}

// read decodes a body and the executor, who must be one that the principal may act as.
func read[B interface{ executor() ident.UserID }](s bodyShape[B], c Conditions, raw []byte) (body B, caller es.Caller, err error) {
	if body, err = s.decode(raw, absentFor(c.Principal)); err != nil {
		return body, c.Caller, err
	}
	executor, err := c.Principal.For(body.executor())
	c.Caller.Executor = executor.String()
	return body, c.Caller, err
}

// absentFor returns the fields that the principal may leave out, with their values.
func absentFor(p admission.Principal) map[string]json.RawMessage {
	if !p.IsKnown() {
		return nil
	}
	return map[string]json.RawMessage{executorField: json.RawMessage(`"` + p.Account.String() + `"`)}
}
