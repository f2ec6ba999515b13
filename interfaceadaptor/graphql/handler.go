package graphql

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"golang.org/x/sync/semaphore"

	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/usecase/query"
)

const maxBody = 64 << 10 // bytes of a request, and of a message on a WebSocket

// Settings are set by operators. A zero field takes its default.
type Settings struct {
	ComplexityLimit int           // maximum complexity of an operation: 20,000
	QueryTimeout    time.Duration // limit of an operation other than a subscription, on any transport: 10 s
	KeepAlive       time.Duration // between two keep-alive messages on a stream: 15 s
	InitTimeout     time.Duration // limit from opening a WebSocket to its connection_init: 10 s
	ConnectionLimit int           // open WebSockets and event streams: 10,000
	OperationLimit  int           // concurrent operations per WebSocket: 256
	InFlightLimit   int           // total complexity of operations that are resolved at once: ComplexityLimit
}

func (s Settings) withDefaults() Settings {
	s.ComplexityLimit = cmp.Or(s.ComplexityLimit, 20_000)
	s.QueryTimeout = cmp.Or(s.QueryTimeout, 10*time.Second)
	s.KeepAlive = cmp.Or(s.KeepAlive, 15*time.Second)
	s.InitTimeout = cmp.Or(s.InitTimeout, 10*time.Second)
	s.ConnectionLimit = cmp.Or(s.ConnectionLimit, 10_000)
	s.OperationLimit = cmp.Or(s.OperationLimit, 256)
	s.InFlightLimit = cmp.Or(s.InFlightLimit, s.ComplexityLimit)
	return s
}

// handler is the GraphQL endpoint. It admits requests and parses them into operations.
type handler struct {
	engine
	streams     context.Context // ends the streams, which live longer than a call
	queries     *query.Queries
	settings    Settings
	connections *semaphore.Weighted // open WebSockets and event streams
	// inFlight is the total complexity of operations that are resolved at once: an answer needs several times its size
	// in memory until it is encoded. Operations beyond the limit wait in order of arrival. Sending is not part of it,
	// so slow clients do not delay others.
	inFlight *semaphore.Weighted
}

// NewHandler returns the GraphQL endpoint that serves schema, for GET and POST. WebSockets and server-sent events
// end when streams ends, in a way that makes clients reconnect. Single queries continue.
func NewHandler(streams context.Context, queries *query.Queries, schema Executable, log *slog.Logger, settings Settings) http.Handler {
	settings = settings.withDefaults()
	h := &handler{
		streams: streams, queries: queries, settings: settings,
		connections: semaphore.NewWeighted(int64(settings.ConnectionLimit)),
		inFlight:    semaphore.NewWeighted(int64(settings.InFlightLimit)),
	}
	h.engine = newEngine(schema, log, settings.ComplexityLimit, h.aroundOperation)
	return h
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, err := h.admit(r)
	ctx, cancel := context.WithCancel(withAsker(r.Context(), a))
	defer cancel()
	r = r.WithContext(ctx)
	if err != nil {
		h.refuse(w, r, http.StatusBadRequest, err)
		return
	}
	if a.canStream {
		if !h.connections.TryAcquire(1) {
			w.Header().Set("Retry-After", "1")
			h.refuse(w, r, http.StatusServiceUnavailable, &limitRefusal{codeUnavailable,
				"the server has reached its limit of open WebSockets and event streams; reconnect later"})
			return
		}
		defer h.connections.Release(1)
		defer context.AfterFunc(h.streams, cancel)()
	}
	if wantsWebsocket(r) {
		h.serveWebsocket(w, r)
		return
	}
	params, status, err := paramsOf(w, r)
	switch {
	case err != nil:
		h.refuse(w, r, status, err)
	case a.canStream:
		h.serveEvents(w, r, params)
	default:
		h.answer(w, r, params)
	}
}

// answer executes an operation with a single answer.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, params *graphql.RawParams) {
	operation, answer := h.begin(r.Context(), params)
	if answer == nil {
		h.run(r.Context(), operation, func(first *graphql.Response) bool {
			answer = first
			return false
		})
	}
	if answer == nil {
		answer = h.response(r.Context(), context.Canceled)
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
	case codeBehind, codeUnavailable:
		return http.StatusServiceUnavailable
	case codeInternal:
		return http.StatusInternalServerError
	default:
		return http.StatusBadRequest
	}
}

// refuse rejects a malformed request with a GraphQL answer. A request that is not admitted has its own status.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	if refusal := (*admission.Refusal)(nil); errors.As(err, &refusal) {
		refusal.SetHeaders(w.Header())
		status = refusal.Status
	}
	h.write(w, r, status, h.response(r.Context(), err))
}

func (h *handler) write(w http.ResponseWriter, r *http.Request, status int, answer *graphql.Response) {
	media := negotiate(r.Header)
	if media == mediaEvents {
		media = mediaJSON
	}
	encoded, release, whole := h.encode(r.Context(), answer)
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
