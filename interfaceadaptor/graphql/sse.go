package graphql

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"example.com/threads/domain/ident"
)

// eventWriteTimeout is how long a client may take to receive an event.
const eventWriteTimeout = 15 * time.Second

// eventStream is the transport for server-sent events: an operation over POST, its answers as events `next`, and
// `complete` at the end. A stream that is cut off, because the server stops, has no `complete`: the client asks again.
type eventStream struct {
	presenter presenter
	keepAlive time.Duration
}

var _ graphql.Transport = eventStream{}

func acceptsEvents(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// Supports implements [graphql.Transport]. Everything else about the request has been checked.
func (eventStream) Supports(r *http.Request) bool {
	return r.Method == http.MethodPost && acceptsEvents(r)
}

// Do implements [graphql.Transport].
func (t eventStream) Do(w http.ResponseWriter, r *http.Request, executor graphql.GraphExecutor) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	params := &graphql.RawParams{Headers: r.Header}
	if err := json.NewDecoder(r.Body).Decode(params); err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(t.presenter.response(ctx, &ident.InvalidError{Field: "body", Reason: "must be a GraphQL request in JSON"}))
		return
	}
	stream := eventWriter{w, http.NewResponseController(w)}
	if err := stream.begin(); err != nil {
		return
	}

	answers := make(chan []byte)
	go func() {
		defer close(answers)
		t.produce(ctx, params, executor, answers)
	}()
	defer func() {
		cancel()
		for range answers { // until the producer has ended
		}
	}()
	t.copy(ctx, stream, answers)
}

// copy writes answers until there are no more, or nobody to take them.
func (t eventStream) copy(ctx context.Context, stream eventWriter, answers <-chan []byte) {
	alive := time.NewTicker(t.keepAlive)
	defer alive.Stop()
	for {
		var err error
		select {
		case answer, more := <-answers:
			switch {
			case more:
				err = stream.write("event: next\ndata: " + string(answer) + "\n\n")
			case ctx.Err() == nil:
				_ = stream.write("event: complete\ndata:\n\n")
				return
			default:
				return
			}
		case <-alive.C:
			err = stream.write(": still here\n\n")
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// produce runs the operation and sends its answers as JSON, until ctx ends. It writes each answer before it asks for the
// next, because the engine uses the same memory for both.
func (t eventStream) produce(ctx context.Context, params *graphql.RawParams, executor graphql.GraphExecutor, answers chan<- []byte) {
	send := func(answer *graphql.Response) bool {
		data, err := json.Marshal(answer)
		if err != nil {
			data, _ = json.Marshal(t.presenter.response(ctx, fmt.Errorf("write an answer as JSON: %w", err)))
		}
		select {
		case answers <- data:
			return true
		case <-ctx.Done():
			return false
		}
	}
	operation, errs := executor.CreateOperationContext(ctx, params)
	if errs != nil {
		send(executor.DispatchError(graphql.WithOperationContext(ctx, operation), errs))
		return
	}
	defer func() {
		if reason := recover(); reason != nil {
			send(t.presenter.response(ctx, t.presenter.recovered(ctx, reason)))
		}
	}()
	responses, ctx := executor.DispatchOperation(ctx, operation)
	for answer := responses(ctx); answer != nil; answer = responses(ctx) {
		if !send(answer) {
			return
		}
	}
}

// eventWriter writes events, each within its time.
type eventWriter struct {
	w          http.ResponseWriter
	controller *http.ResponseController
}

func (e eventWriter) begin() error {
	header := e.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // proxies must not wait for more
	if err := e.controller.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("lift the time limit of the request: %w", err)
	}
	return e.write(": hello\n\n")
}

func (e eventWriter) write(text string) error {
	if err := e.controller.SetWriteDeadline(time.Now().Add(eventWriteTimeout)); err != nil {
		return err
	}
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.controller.Flush()
}
