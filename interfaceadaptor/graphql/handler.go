package graphql

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/sync/semaphore"

	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/usecase/query"
)

const (
	maxBody         = 64 << 10 // bytes of a request
	cachedDocuments = 500
)

// Settings are set by operators. A zero field takes its default.
type Settings struct {
	QueryTimeout    time.Duration              // of an operation other than a subscription: 10 s
	KeepAlive       time.Duration              // between two keep-alive messages on an event stream: 15 s
	ConnectionLimit int                        // open streams: 10,000
	Extend          []func(*executor.Executor) // what extends the engine, as by limits: none
}

// Handler is the GraphQL endpoint. Its other methods are the steps of a transport; extras/websocket takes them.
type Handler struct {
	presenter
	executor    *executor.Executor // runs the operations of all transports
	streams     context.Context    // ends the streams, which live longer than a call
	queries     *query.Queries
	settings    Settings
	connections *semaphore.Weighted // open streams
}

// NewHandler returns the GraphQL endpoint for schema. Streams end with the context streams, so that clients reconnect.
func NewHandler(streams context.Context, queries *query.Queries, schema Executable, log *slog.Logger, settings Settings) *Handler {
	settings.QueryTimeout = cmp.Or(settings.QueryTimeout, 10*time.Second)
	settings.KeepAlive = cmp.Or(settings.KeepAlive, 15*time.Second)
	h := &Handler{
		presenter: presenter{log}, executor: executor.New(schema), streams: streams, queries: queries, settings: settings,
		connections: semaphore.NewWeighted(cmp.Or(int64(settings.ConnectionLimit), 10_000)),
	}
	h.executor.SetQueryCache(lru.New[*ast.QueryDocument](cachedDocuments))
	h.executor.SetErrorPresenter(h.present)
	h.executor.SetRecoverFunc(h.recovered)
	h.executor.Use(extension.Introspection{})
	h.executor.AroundOperations(h.aroundOperation)
	h.executor.AroundFields(schema.aroundField)
	for _, extend := range settings.Extend {
		extend(h.executor)
	}
	return h
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	stage, serve := admission.Request, h.answer
	if wantsEvents(r) {
		stage, serve = admission.Stream, h.serveEvents
	}
	h.Admitted(w, r, stage, func(r *http.Request) {
		if params, status, err := paramsOf(w, r); err != nil {
			h.Refuse(w, r, status, err)
		} else {
			serve(w, r, params)
		}
	})
}

// Admitted calls serve with a request whose context says who asks, or refuses the request. At another stage than
// [admission.Request] the answer is a stream: their number is limited, and the context also ends with the streams.
func (h *Handler) Admitted(w http.ResponseWriter, r *http.Request, stage admission.Stage, serve func(*http.Request)) {
	a, err := h.admit(r, stage)
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), askerKey{}, a))
	defer cancel()
	r = r.WithContext(ctx)
	if err != nil {
		h.Refuse(w, r, http.StatusBadRequest, err)
		return
	}
	if a.canStream {
		if !h.connections.TryAcquire(1) {
			w.Header().Set("Retry-After", "1")
			h.Refuse(w, r, http.StatusServiceUnavailable, &Refusal{CodeUnavailable, "the server has reached its limit of open streams; reconnect later"})
			return
		}
		defer h.connections.Release(1)
		defer context.AfterFunc(h.streams, cancel)()
	}
	serve(r)
}

// answer executes an operation with a single answer.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, params *graphql.RawParams) {
	operation, answer := h.Begin(r.Context(), params)
	if answer == nil {
		h.Run(r.Context(), operation, func(first *graphql.Response) bool {
			answer = first
			return false
		})
	}
	if answer == nil {
		answer = h.Response(r.Context(), context.Canceled)
	}
	h.write(w, r, statusOf(r, answer), answer) // after the engine has released its memory
}

// statusOf returns the HTTP status of an answer. As application/json, every well-formed request is a success; as
// application/graphql-response+json, only an executed operation is.
func statusOf(r *http.Request, answer *graphql.Response) int {
	if negotiate(r.Header) == mediaJSON || len(answer.Data) > 0 {
		return http.StatusOK
	}
	switch answer.Errors[0].Extensions["code"] {
	case codeBehind, CodeUnavailable:
		return http.StatusServiceUnavailable
	case codeInternal:
		return http.StatusInternalServerError
	default:
		return http.StatusBadRequest
	}
}

// Refuse rejects a malformed request with a GraphQL answer. A request that is not admitted has its own status.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	if refusal := (*admission.Refusal)(nil); errors.As(err, &refusal) {
		refusal.SetHeaders(w.Header())
		status = refusal.Status
	}
	h.write(w, r, status, h.Response(r.Context(), err))
}

func (h *Handler) write(w http.ResponseWriter, r *http.Request, status int, answer *graphql.Response) {
	media := negotiate(r.Header)
	if media == mediaEvents {
		media = mediaJSON
	}
	encoded, release, whole := h.Encode(r.Context(), answer)
	defer release()
	if !whole {
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", strconv.Itoa(len(encoded)))
	w.WriteHeader(status)
	_, _ = w.Write(encoded) // fails only if the client has disconnected
}

const writeTimeout = 15 * time.Second // limits how long a client may take to receive an event

// serveEvents answers an operation by server-sent events: each answer is an event `next`, and the last event is
// `complete`. A stream that ends because the server stops has no `complete`, so the client reconnects.
func (h *Handler) serveEvents(w http.ResponseWriter, r *http.Request, params *graphql.RawParams) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	controller := http.NewResponseController(w)
	w.Header().Set("Content-Type", mediaEvents)
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer events
	if controller.SetReadDeadline(time.Time{}) != nil {
		return
	}
	var writing sync.Mutex
	write := func(parts ...[]byte) {
		writing.Lock()
		defer writing.Unlock()
		err := controller.SetWriteDeadline(time.Now().Add(writeTimeout))
		for _, part := range parts {
			if err == nil {
				_, err = w.Write(part)
			}
		}
		if err != nil || controller.Flush() != nil {
			cancel()
		}
	}
	write([]byte(": hello\n\n"))
	var alive sync.WaitGroup
	alive.Go(func() {
		for es.Wait(ctx, h.settings.KeepAlive) == nil {
			write([]byte(": still here\n\n"))
		}
	})
	send := func(answer *graphql.Response) bool {
		encoded, release, whole := h.Encode(ctx, answer)
		defer release()
		if ctx.Err() == nil {
			write([]byte("event: next\ndata: "), encoded, []byte("\n\n"))
		}
		return whole
	}
	if operation, refused := h.Begin(ctx, params); refused != nil {
		send(refused)
	} else {
		h.Run(ctx, operation, send)
	}
	if ctx.Err() == nil {
		write([]byte("event: complete\ndata:\n\n"))
	}
	cancel()
	alive.Wait()
}
