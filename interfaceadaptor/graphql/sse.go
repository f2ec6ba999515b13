package graphql

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// writeTimeout limits how long a client may take to receive an event, or a message on a WebSocket.
const writeTimeout = 15 * time.Second

func wantsEvents(r *http.Request) bool {
	return r.Method != http.MethodHead && negotiate(r.Header) == mediaEvents
}

// serveEvents answers an operation by server-sent events: each answer is an event `next`, and the last event is
// `complete`. A stream that ends because the server stops has no `complete`, so the client reconnects.
func (h *handler) serveEvents(w http.ResponseWriter, r *http.Request, params *graphql.RawParams) {
	if !h.connections.TryAcquire(1) {
		h.refuseConnection(w, r)
		return
	}
	defer h.connections.Release(1)
	ctx, cancel := h.untilStreamsEnd(r.Context())
	defer cancel()
	stream := eventWriter{w, http.NewResponseController(w)}
	if err := stream.begin(); err != nil {
		return
	}
	answers := make(chan event)
	go func() {
		defer close(answers)
		h.produce(ctx, params, answers)
	}()
	defer func() {
		cancel()
		for answer := range answers { // until the producer has ended
			answer.sent()
		}
	}()
	stream.copy(ctx, answers, h.settings.KeepAlive)
}

// produce executes the operation and sends its answers as JSON until ctx ends.
func (h *handler) produce(ctx context.Context, params *graphql.RawParams, answers chan<- event) {
	send := func(answer *graphql.Response) bool {
		encoded, release, whole := h.encode(ctx, answer)
		select {
		case answers <- event{encoded, release}:
			return whole
		case <-ctx.Done():
			release()
			return false
		}
	}
	operation, refused := h.engine.begin(ctx, params)
	if refused != nil {
		send(refused)
		return
	}
	h.engine.run(ctx, operation, send)
}

// event is an answer to send.
type event struct {
	data []byte
	sent func() // releases the answer's part of the client's share
}

// eventWriter writes events, each within a time limit.
type eventWriter struct {
	w          http.ResponseWriter
	controller *http.ResponseController
}

func (e eventWriter) begin() error {
	header := e.w.Header()
	header.Set("Content-Type", mediaEvents)
	header.Set("X-Accel-Buffering", "no") // proxies must not buffer events
	if err := e.controller.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("lift the time limit of the request: %w", err)
	}
	return e.write([]byte(": hello\n\n"))
}

// copy writes answers until there are no more or the client has disconnected.
func (e eventWriter) copy(ctx context.Context, answers <-chan event, keepAlive time.Duration) {
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		var err error
		select {
		case answer, more := <-answers:
			switch {
			case more:
				err = e.write([]byte("event: next\ndata: "), answer.data, []byte("\n\n"))
				answer.sent()
			case ctx.Err() == nil:
				_ = e.write([]byte("event: complete\ndata:\n\n"))
				return
			default:
				return
			}
		case <-alive.C:
			err = e.write([]byte(": still here\n\n"))
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (e eventWriter) write(parts ...[]byte) error {
	if err := e.controller.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	for _, part := range parts {
		if _, err := e.w.Write(part); err != nil {
			return err
		}
	}
	return e.controller.Flush()
}
