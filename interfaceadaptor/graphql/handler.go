package graphql

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"example.com/threads/domain/ident"
	"example.com/threads/usecase"
	"example.com/threads/usecase/query"
)

const (
	tenantHeader      = "X-Tenant-Code"
	consistencyHeader = "Consistency-Token"

	maxBody       = 64 << 10 // of a request, and of a message on a WebSocket
	cachedQueries = 500
)

// Settings are what operators decide. A zero value is the default.
type Settings struct {
	ComplexityLimit int           // the most complex operation: 20,000
	QueryTimeout    time.Duration // for an operation that is no subscription, on any transport: 10 s
	KeepAlive       time.Duration // between signs of life on a stream: 15 s
	InitTimeout     time.Duration // from the opening of a WebSocket to its connection_init: 10 s
	ConnectionLimit int           // WebSockets and event streams at once: 10,000
	InitLimit       int           // WebSockets of one address at once that have sent no connection_init yet: 500
}

func (s Settings) withDefaults() Settings {
	orElse(&s.ComplexityLimit, 20_000)
	orElse(&s.QueryTimeout, 10*time.Second)
	orElse(&s.KeepAlive, 15*time.Second)
	orElse(&s.InitTimeout, 10*time.Second)
	orElse(&s.ConnectionLimit, 10_000)
	orElse(&s.InitLimit, 500)
	return s
}

func orElse[T int | time.Duration](setting *T, usual T) {
	if *setting <= 0 {
		*setting = usual
	}
}

// handler is the GraphQL endpoint: it lets in what can be an operation, and finds out who asks.
type handler struct {
	streams     context.Context // the life of the streams, which outlast any single call
	engine      engine
	queries     *query.Queries
	presenter   presenter
	log         *slog.Logger
	settings    Settings
	connections *connections
}

// NewHandler returns the GraphQL endpoint, for GET and POST. WebSockets and server-sent events end when streams does, such
// that their clients connect again; single queries are not touched by it.
func NewHandler(streams context.Context, queries *query.Queries, log *slog.Logger, settings Settings) http.Handler {
	settings = settings.withDefaults()
	p := presenter{log}
	h := &handler{
		streams: streams, queries: queries, presenter: p, log: log, settings: settings,
		connections: newConnections(settings.ConnectionLimit, settings.InitLimit),
	}
	h.engine = newEngine(resolver{queries, p}, p, settings.ComplexityLimit, h.aroundOperation)
	return h
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, err := askerFrom(r)
	if err != nil {
		h.refuse(w, r, http.StatusBadRequest, err)
		return
	}
	r = r.WithContext(withAsker(r.Context(), a))
	if wantsWebsocket(r) {
		h.serveWebsocket(w, r)
		return
	}
	params, status, err := paramsOf(w, r)
	if err != nil {
		h.refuse(w, r, status, err)
		return
	}
	if a.canStream {
		h.serveEvents(w, r, params)
		return
	}
	h.answer(w, r, params)
}

// answer answers an operation that has one answer.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, params *graphql.RawParams) {
	operation, answer := h.engine.begin(r.Context(), params)
	if answer != nil {
		h.write(w, r, statusOf(r, answer), answer)
		return
	}
	h.engine.run(r.Context(), operation, func(answer *graphql.Response) bool {
		h.write(w, r, statusOf(r, answer), answer)
		return false
	})
}

// statusOf is the status of an answer. As application/json, anything that could be read as an operation is a success; as
// application/graphql-response+json, only what has run is.
func statusOf(r *http.Request, answer *graphql.Response) int {
	if negotiate(r.Header) == mediaJSON || len(answer.Data) > 0 {
		return http.StatusOK
	}
	switch answer.Errors[0].Extensions["code"] {
	case codeBehind, codeUnavailable:
		return http.StatusServiceUnavailable
	case codeInternal:
		return http.StatusInternalServerError
	default:
		return http.StatusBadRequest
	}
}

// refuse answers a request that is no operation, in the form of a GraphQL answer.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	h.write(w, r, status, h.presenter.response(r.Context(), err))
}

func (h *handler) write(w http.ResponseWriter, r *http.Request, status int, answer *graphql.Response) {
	media := negotiate(r.Header)
	if media == mediaEvents {
		media = mediaJSON
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write(h.engine.encode(r.Context(), answer)) // fails only when the client has gone
}

func (h *handler) untilStreamsEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(h.streams, cancel)
	return ctx, func() { stop(); cancel() }
}

// askerFrom reads the headers that every operation of the request is under.
func askerFrom(r *http.Request) (asker, error) {
	tenant, err := tenantFrom(r.Header)
	if err != nil {
		return asker{}, err
	}
	a := asker{tenant: tenant, canStream: wantsWebsocket(r) || wantsEvents(r)}
	if tokens, named := r.Header[consistencyHeader]; named {
		a.tokens, err = query.ParseTokens(strings.Join(tokens, ","))
	}
	return a, err
}

// tenantFrom reads the tenant that is named once or not at all: of two, a proxy may have checked the other one.
func tenantFrom(header http.Header) (usecase.Tenant, error) {
	switch codes := header.Values(tenantHeader); {
	case len(codes) == 0:
		return usecase.Tenant{}, nil
	case len(codes) > 1 || codes[0] == "":
		return usecase.Tenant{}, errTenant
	default:
		return parseTenant(codes[0])
	}
}

var errTenant error = &ident.InvalidError{Field: tenantHeader, Reason: "must be 1 to 32 characters out of a-z, 0-9 and -, and be sent once"}

func parseTenant(code string) (usecase.Tenant, error) {
	tenant, err := usecase.ParseTenant(code)
	if err != nil {
		return tenant, errTenant
	}
	return tenant, nil
}
