package graphql

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"

	gqlgen "github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"

	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/graphql/generated"
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
}

func (s Settings) withDefaults() Settings {
	if s.ComplexityLimit <= 0 {
		s.ComplexityLimit = 20_000
	}
	if s.QueryTimeout <= 0 {
		s.QueryTimeout = 10 * time.Second
	}
	if s.KeepAlive <= 0 {
		s.KeepAlive = 15 * time.Second
	}
	return s
}

// handler is the GraphQL endpoint: it lets in what can be an operation, and finds out who asks.
type handler struct {
	streams      context.Context // the life of the streams, which outlast any single call
	engine       *gqlgen.Server
	queries      *query.Queries
	queryTimeout time.Duration
	presenter    presenter
}

// NewHandler returns the GraphQL endpoint. WebSockets and server-sent events end when streams does, such that their
// clients connect again; queries over POST alone are not touched by it.
func NewHandler(streams context.Context, queries *query.Queries, log *slog.Logger, settings Settings) http.Handler {
	settings = settings.withDefaults()
	p := presenter{log}
	h := &handler{streams: streams, queries: queries, queryTimeout: settings.QueryTimeout, presenter: p}

	h.engine = gqlgen.New(generated.NewExecutableSchema(generated.Config{Resolvers: resolver{queries, p}}))
	h.engine.AddTransport(newWebsocket(streams, log, settings.KeepAlive))
	h.engine.AddTransport(eventStream{presenter: p, keepAlive: settings.KeepAlive})
	h.engine.AddTransport(transport.POST{})
	h.engine.SetQueryCache(documents{lru.New[*ast.QueryDocument](cachedQueries)})
	h.engine.SetParserTokenLimit(maxTokens)
	h.engine.SetErrorPresenter(p.present)
	h.engine.SetRecoverFunc(p.recovered)
	h.engine.Use(extension.Introspection{})
	h.engine.Use(limits{settings.ComplexityLimit})
	h.engine.AroundOperations(h.aroundOperation)
	h.engine.AroundFields(markResolverErrors)
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
	if r.Header.Get("Upgrade") != "" {
		h.serveWebsocket(w, r)
		return
	}
	if status, err := checkPost(r); err != nil {
		w.Header().Set("Allow", http.MethodPost)
		h.refuse(w, r, status, err)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		status := http.StatusBadRequest
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		h.refuse(w, r, status, &ident.InvalidError{Field: "body", Reason: "must arrive whole and be 64 KiB at most"})
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))

	if acceptsEvents(r) {
		ctx, cancel := h.untilStreamsEnd(r.Context())
		defer cancel()
		r = r.WithContext(ctx)
	}
	h.engine.ServeHTTP(w, r)
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
	a := asker{tenant: tenant, canStream: acceptsEvents(r) || r.Header.Get("Upgrade") != ""}
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

func checkPost(r *http.Request) (status int, err error) {
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed, &ident.InvalidError{Field: "method", Reason: "must be POST; GET / is GraphiQL"}
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return http.StatusUnsupportedMediaType, &ident.InvalidError{Field: "Content-Type", Reason: "must be application/json"}
	}
	return 0, nil
}

// refuse answers a request that is no operation, in the form of a GraphQL answer.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(h.presenter.response(r.Context(), err))
}
