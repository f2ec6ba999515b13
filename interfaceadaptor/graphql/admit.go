package graphql

import (
	"net/http"
	"strings"

	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/usecase/query"
)

// asker is the sender of an operation and the conditions of its answer.
type asker struct {
	admission.Principal
	guard  admission.Guard
	tokens []query.Token
	// canStream: the transport can deliver more than one answer.
	canStream bool
}

// admit determines who sends a request and whether queries are allowed. A WebSocket may say later who it is of, because
// browsers can't set its headers: [socket.initialize].
func (h *handler) admit(r *http.Request, a asker) (asker, error) {
	tenant, err := tenantFrom(r.Header)
	ask := admission.Ask{Rights: []admission.Right{admission.Read}, Tenant: tenant}
	switch {
	case wantsWebsocket(r):
		ask.Stage = admission.Handshake
	case wantsEvents(r):
		ask.Stage = admission.Stream
	}
	a.canStream = ask.Stage != admission.Request
	principal, refusal := a.guard.Enter(ask)
	if refusal != nil {
		return a, refusal
	}
	a.Principal = principal
	if tokens, named := r.Header[consistencyHeader]; named && err == nil {
		a.tokens, err = h.queries.ParseTokens(strings.Join(tokens, ","))
	}
	return a, err
}
