package graphql

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// writeTimeout limits how long a client may take to receive an event, or a message on a WebSocket.
const writeTimeout = 15 * time.Second

// serveEvents answers an operation by server-sent events: each answer is an event `next`, and the last event is
// `complete`. A stream that ends because the server stops has no `complete`, so the client reconnects.
func (h *handler) serveEvents(w http.ResponseWriter, r *http.Request, params *graphql.RawParams) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	events := &eventWriter{w: w, controller: http.NewResponseController(w), broken: cancel}
	w.Header().Set("Content-Type", mediaEvents)
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer events
	if events.controller.SetReadDeadline(time.Time{}) != nil {
		return
	}
	events.write([]byte(": hello\n\n"))
	var alive sync.WaitGroup
	alive.Go(func() { events.keepAlive(ctx, h.settings.KeepAlive) })
	send := func(answer *graphql.Response) bool {
		encoded, release, whole := h.encode(ctx, answer)
		defer release()
		if ctx.Err() == nil {
			events.write([]byte("event: next\ndata: "), encoded, []byte("\n\n"))
		}
		return whole
	}
	if operation, refused := h.begin(ctx, params); refused != nil {
		send(refused)
	} else {
		h.run(ctx, operation, send)
	}
	if ctx.Err() == nil {
		events.write([]byte("event: complete\ndata:\n\n"))
	}
	cancel()
	alive.Wait()
}

// eventWriter writes events, each within a time limit.
type eventWriter struct {
	mu         sync.Mutex
	w          http.ResponseWriter
	controller *http.ResponseController
	broken     context.CancelFunc // called when the client does not receive an event
}

func (e *eventWriter) write(parts ...[]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.controller.SetWriteDeadline(time.Now().Add(writeTimeout))
	for _, part := range parts {
		if err == nil {
			_, err = e.w.Write(part)
		}
	}
	if err != nil || e.controller.Flush() != nil {
		e.broken()
	}
}

func (e *eventWriter) keepAlive(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			e.write([]byte(": still here\n\n"))
		case <-ctx.Done():
			return
		}
	}
}
