package graphql

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/usecase/query"
)

const (
	tenantHeader      = "X-Tenant-Code"
	consistencyHeader = "Consistency-Token"
)

// asker is the sender of an operation and the conditions of its answer.
type asker struct {
	admission.Principal
	guard  admission.Guard
	tokens []query.Token
	// canStream: the transport can deliver more than one answer.
	canStream bool
}

type askerKey struct{}

func withAsker(ctx context.Context, a asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

func askerOf(ctx context.Context) asker {
	a, _ := ctx.Value(askerKey{}).(asker)
	return a
}

// admit determines who sends a request and whether queries are allowed. A WebSocket may say later who it is of, because
// browsers can't set its headers: [socket.initialize].
func (h *handler) admit(r *http.Request) (asker, error) {
	a := asker{guard: admission.Of(r)}
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

var errTenant error = &ident.InvalidError{Field: tenantHeader, Reason: "must be 1 to 32 characters out of a-z, 0-9 and -, and be sent once"}

// tenantFrom reads the tenant from its header. A second header is an error, because a proxy may have checked only the
// first.
func tenantFrom(header http.Header) (es.Tenant, error) {
	codes := header.Values(tenantHeader)
	if len(codes) == 0 {
		return "", nil
	}
	tenant, err := es.ParseTenant(codes[0])
	if err != nil || len(codes) > 1 || tenant == "" {
		return "", errTenant
	}
	return tenant, nil
}

// tenantIn returns the tenant that the payload of connection_init names, or the header of the handshake.
func tenantIn(payload map[string]any, handshake http.Header) (es.Tenant, error) {
	header, err := tenantFrom(handshake)
	named, ok := payload[tenantHeader]
	if !ok || err != nil {
		return header, err
	}
	code, isText := named.(string)
	tenant, err := es.ParseTenant(code)
	switch {
	case err != nil:
		err = errTenant
	case !isText || header != "" && header != tenant:
		err = &ident.InvalidError{Field: tenantHeader, Reason: "must be a string, and the same in the header and in connection_init"}
	}
	return tenant, err
}

// ViewerOf returns the viewer that an operation names, if the principal may act for it. The default is the principal's
// account.
func ViewerOf(ctx context.Context, userAccountID string) (query.Viewer, error) {
	a := askerOf(ctx)
	named, err := a.named(userAccountID)
	if err != nil {
		return query.Viewer{}, err
	}
	user, err := a.For(named)
	return query.Viewer{Tenant: a.Tenant, User: user}, err
}

var errOperators = admission.Forbidden("only operators of the service may ask this")

// OnlyOperators returns an error unless an operator of the service asks.
func OnlyOperators(ctx context.Context) error {
	if !askerOf(ctx).May(admission.Operate) {
		return errOperators
	}
	return nil
}

// named reads the argument userAccountId, which a known principal may leave out.
func (a asker) named(userAccountID string) (thread.UserID, error) {
	leftOut := userAccountID == "" || userAccountID == "null" // gqlgen reads null as "null"
	if a.IsKnown() && leftOut {
		return thread.UserID{}, nil
	}
	return ParseID[ident.UserAccount]("userAccountId", userAccountID)
}

// viewerAndThread returns the viewer and the thread that an operation names.
func viewerAndThread(ctx context.Context, userAccountID, threadID string) (query.Viewer, thread.ID, error) {
	viewer, err := ViewerOf(ctx, userAccountID)
	id, idErr := ParseID[thread.Thread]("threadId", threadID)
	return viewer, id, cmp.Or(err, idErr)
}

// ParseID reads the id in the named argument.
func ParseID[T any](argument, text string) (ident.Of[T], error) {
	id, err := ident.Parse[T](text)
	if err != nil {
		return id, &ident.InvalidError{Field: argument, Reason: "must be a ULID of 26 characters"}
	}
	return id, nil
}
