package graphql

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/sync/semaphore"

	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/usecase/query"
)

const (
	maxBody         = 64 << 10 // bytes of a request
	cachedDocuments = 200
	cachedDocument  = 4 << 10 // bytes: a parsed document takes many times its length
)

// Settings are set by operators. A zero field takes its default.
type Settings struct {
	QueryTimeout    time.Duration              // of an operation other than a subscription: 10 s
	KeepAlive       time.Duration              // between two keep-alive messages on an event stream: 15 s
	ConnectionLimit int                        // open streams: 10,000
	Extend          []func(*executor.Executor) // what extends the engine, as by limits: none // extra:erasure|limits
}

// Executable is the executable schema with its resolvers. Package generated returns it.
type Executable struct {
	graphql.ExecutableSchema
	// Plain writes the value of a field whose selection needs no resolver, and is nil for any other.
	Plain func(ctx context.Context, value any) graphql.Marshaler
}

// Resolver resolves the core's fields of Query and Subscription, each by the method with its name.
type Resolver struct{ Queries *query.Queries }

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
	h.executor.SetQueryCache(NewDocuments())
	h.executor.SetErrorPresenter(h.present)
	h.executor.SetRecoverFunc(h.recovered)
	h.executor.Use(extension.Introspection{})
	h.executor.AroundOperations(h.aroundOperation)
	h.executor.AroundFields(schema.aroundField)
	for _, extend := range settings.Extend { // extra:erasure|limits {
		extend(h.executor)
	} // extra:erasure|limits }
	return h
}

// NewDocuments returns a cache of valid documents. It keeps no long ones.
func NewDocuments() graphql.Cache[*ast.QueryDocument] {
	return documents{lru.New[*ast.QueryDocument](cachedDocuments)}
}

type documents struct{ *lru.LRU[*ast.QueryDocument] }

func (d documents) Add(ctx context.Context, text string, document *ast.QueryDocument) {
	if len(text) <= cachedDocument {
		d.LRU.Add(ctx, text, document)
	}
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	stage, serve := admission.Request, h.answer
	if r.Method != http.MethodHead && negotiate(r.Header) == mediaEvents {
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

// answer executes an operation with a single answer. Begin checks it. Run has the engine call aroundOperation, which
// waits for the tokens, and then a method of the resolvers for each field.
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

// Begin parses and validates an operation without running it. For a refused one it returns an answer and no operation.
func (h *Handler) Begin(ctx context.Context, params *graphql.RawParams) (operation *graphql.OperationContext, refusal *graphql.Response) {
	defer func() {
		if reason := recover(); reason != nil {
			operation, refusal = nil, h.Response(ctx, h.recovered(ctx, reason))
		}
	}()
	ctx = graphql.StartOperationTrace(ctx)
	if ctx.Err() != nil { // the client has left
		return nil, h.Response(ctx, ctx.Err())
	}
	operation, errs := h.executor.CreateOperationContext(ctx, params)
	if errs != nil {
		return nil, h.executor.DispatchError(ctx, errs)
	}
	return operation, nil
}

// Run passes each answer of an operation to send, which must not keep it, until send returns false or it was the last.
func (h *Handler) Run(ctx context.Context, operation *graphql.OperationContext, send func(*graphql.Response) bool) {
	defer func() {
		if reason := recover(); reason != nil {
			send(h.Response(ctx, h.recovered(ctx, reason)))
		}
	}()
	responses, ctx := h.executor.DispatchOperation(ctx, operation)
	for answer := responses(ctx); answer != nil && send(answer); {
		answer = responses(ctx)
	}
}

// aroundOperation executes an operation within the query timeout, which includes the wait for its tokens. The engine
// resolves an operation when the transport asks for the response, so the deadline is set around that. The transport's
// own context has no deadline, because the answer about a timeout must be sent, too. A subscription has no time limit.
func (h *Handler) aroundOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Subscription {
		return h.follow(ctx, next)
	}
	deadline := time.Now().Add(h.settings.QueryTimeout)
	waiting, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := h.await(waiting, askerOf(ctx)); err != nil {
		return graphql.OneShot(h.Response(ctx, err))
	}
	responses := next(ctx)
	return func(ctx context.Context) *graphql.Response {
		inTime, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		return responses(inTime)
	}
}

// await waits for the consistency tokens of the request. Who may read for anyone may know all versions: no viewer.
func (h *Handler) await(ctx context.Context, a asker) error {
	if len(a.tokens) == 0 {
		return nil
	}
	viewer := query.Viewer{Tenant: a.Tenant}
	if !a.NamesAnyone() && !a.IsOperator() {
		viewer.User = a.Account
	}
	return h.queries.Await(ctx, viewer, a.tokens)
}

// aroundField resolves every field that package plain does not write, and marks errors as those of resolvers.
func (e Executable) aroundField(ctx context.Context, next graphql.Resolver) (any, error) {
	result, err := next(ctx)
	if err != nil {
		return result, resolverError{err}
	}
	if written := e.Plain(ctx, result); written != nil {
		return written, nil
	}
	return result, nil
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
	if refusal, is := errors.AsType[*admission.Refusal](err); is {
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
	encoded := Encode(answer)
	encoded, whole, release := h.Hold(r.Context(), encoded) // extra:access|operate|tenants|websocket {
	defer release()
	if !whole {
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", "1")
	} // extra:access|operate|tenants|websocket }
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", strconv.Itoa(len(encoded)))
	w.WriteHeader(status)
	_, _ = w.Write(encoded) // fails only if the client has disconnected
}

// Hold reserves memory for an answer. If its client may use no more, it returns an error to send, and whole is false. // extra:access|operate|tenants|websocket {
func (h *Handler) Hold(ctx context.Context, answer []byte) (sent []byte, whole bool, release func()) {
	release, err := askerOf(ctx).guard.Hold(len(answer))
	if err != nil {
		return Encode(h.Response(ctx, err)), false, func() {}
	}
	return answer, true, release
} // extra:access|operate|tenants|websocket }

// Encode writes an answer as JSON, without data if the operation was not executed. The data is JSON already.
func Encode(answer *graphql.Response) []byte {
	if len(answer.Errors) == 0 {
		return slices.Concat([]byte(`{"data":`), answer.Data, []byte(`}`))
	}
	errs, err := json.Marshal(answer.Errors)
	switch {
	case err != nil: // never: they are from present
		panic(err)
	case len(answer.Data) == 0:
		return slices.Concat([]byte(`{"errors":`), errs, []byte(`}`))
	}
	return slices.Concat([]byte(`{"errors":`), errs, []byte(`,"data":`), answer.Data, []byte(`}`))
}
