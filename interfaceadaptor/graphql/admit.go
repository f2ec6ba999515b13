package graphql

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"example.com/threads/es"
	"example.com/threads/extras/access"
	"example.com/threads/usecase/query"
)

// asker is the sender of an operation and the conditions of its answer.
type asker struct {
	principal access.Principal
	tenant    es.Tenant // whose data the operation reads
	client    string    // owner of the memory share that the answers use
	tokens    []query.Token
	// canStream: the transport can deliver more than one answer.
	canStream bool
}

// admit determines who sends a request and whether queries are allowed. A WebSocket may authenticate later, because
// browsers can't set its headers: [handler.admitSocket].
func (h *handler) admit(w http.ResponseWriter, r *http.Request) (asker, error) {
	later := wantsWebsocket(r) && r.Header.Get("Authorization") == ""
	var a asker
	var err error
	if later {
		err = h.settings.Gate.Knock(w.Header(), r)
	} else {
		a.principal, err = h.settings.Gate.Enter(w.Header(), r)
	}
	if err != nil {
		return a, err
	}
	if a.tenant, err = tenantFrom(r.Header); err != nil {
		return a, err
	}
	a.canStream = wantsWebsocket(r) || wantsEvents(r)
	if tokens, named := r.Header[consistencyHeader]; named {
		if a.tokens, err = query.ParseTokens(strings.Join(tokens, ",")); err != nil {
			return a, err
		}
	}
	a.client = h.settings.Gate.Client(a.principal, r)
	if later {
		return a, nil
	}
	return h.mayLook(r.Context(), a)
}

// mayLook checks that the principal may read in the tenant: the tenant is active, and the token has the scope.
func (h *handler) mayLook(ctx context.Context, a asker) (asker, error) {
	tenant, err := a.principal.In(a.tenant)
	if err != nil {
		return a, err
	}
	a.tenant = tenant
	if err := a.principal.Needs(access.Read); err != nil {
		return a, err
	}
	return a, h.admitTenant(ctx, tenant)
}

// admitTenant refuses a tenant that is not active, and every tenant while the registry is unavailable.
func (h *handler) admitTenant(ctx context.Context, tenant es.Tenant) error {
	err := h.settings.Tenants.Admit(ctx, tenant)
	var refusal *access.Refusal
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	h.log.WarnContext(ctx, "the registry of tenants is unavailable", "tenant", tenant, "error", err)
	return access.Unavailable("the registry of tenants does not answer; try again")
}

// admitSocket authenticates a WebSocket by the token in its connection_init, or else in its handshake.
func (s *socket) admitSocket(a asker, said map[string]any) (asker, error) {
	gate := s.handler.settings.Gate
	authorization, named := authorizationIn(said)
	if named || !a.principal.IsVerified() {
		principal, err := gate.EnterBy(s.ctx, authorization)
		if err != nil {
			return a, err
		}
		a.principal = principal
	}
	if account := a.principal.Client(); account != "" {
		a.client = account
	}
	return s.handler.mayLook(s.ctx, a)
}

// authorizationIn returns the entry authorization, in any case, of the payload of connection_init.
func authorizationIn(payload map[string]any) (value string, named bool) {
	for name, entry := range payload {
		if strings.EqualFold(name, "authorization") {
			text, _ := entry.(string)
			return text, true
		}
	}
	return "", false
}
