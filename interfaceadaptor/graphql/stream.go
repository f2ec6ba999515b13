package graphql

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

const writeTimeout = 15 * time.Second // limits how long a client may take to receive an event

// serveEvents answers an operation by server-sent events: each answer is an event `next`, and the last event is
// `complete`. A stream that ends because the server stops has no `complete`, so the client reconnects.
func (h *Handler) serveEvents(w http.ResponseWriter, r *http.Request, params *graphql.RawParams) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	controller := http.NewResponseController(w)
	w.Header().Set("Content-Type", mediaEvents)
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer events
	// A body that nobody reads: net/http waits for it before it sends the answer, soon without a deadline.
	if _, err := io.Copy(io.Discard, r.Body); err != nil || controller.SetReadDeadline(time.Time{}) != nil {
		return
	}
	var writing sync.Mutex
	write := func(format string, args ...any) {
		writing.Lock()
		defer writing.Unlock()
		err := controller.SetWriteDeadline(time.Now().Add(writeTimeout))
		if err == nil {
			_, err = fmt.Fprintf(w, format, args...)
		}
		if err != nil || controller.Flush() != nil {
			cancel()
		}
	}
	write(": hello\n\n")
	var alive sync.WaitGroup
	alive.Go(func() {
		for es.Wait(ctx, h.settings.KeepAlive) == nil {
			write(": still here\n\n")
		}
	})
	send := func(answer *graphql.Response) bool {
		encoded, more := Encode(answer), ctx.Err() == nil
		encoded, whole, release := h.Hold(ctx, encoded) // extra:access|operate|tenants|websocket {
		defer release()                                 // extra:access|operate|tenants|websocket }
		if more {
			write("event: next\ndata: %s\n\n", encoded)
		}
		more = more && whole // extra:access|operate|tenants|websocket
		return more
	}
	if operation, refused := h.Begin(ctx, params); refused != nil {
		send(refused)
	} else {
		h.Run(ctx, operation, send)
	}
	if ctx.Err() == nil {
		write("event: complete\ndata:\n\n")
	}
	cancel()
	alive.Wait()
}

// subscription is shared by the resolver, which sends changes ([Stream]), and the handler, which answers them.
type subscription struct {
	presenter
	// ended is the reason for the end; nil: the client's request. A guard's counts before the resolver's.
	ended atomic.Pointer[gqlerror.Error]
}

type subscriptionKey struct{}

const needsStream = "must be sent by a request that prefers text/event-stream, or over another transport with many answers"

// follow answers a subscription, which needs a stream, until it or its caller's admission ends. If it ends with an
// error, that comes last.
func (h *Handler) follow(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	a := askerOf(ctx)
	err := error(&ident.InvalidError{Field: "subscription", Reason: needsStream})
	if a.canStream {
		err = h.await(ctx, a)
	}
	if err != nil {
		return graphql.OneShot(h.Response(ctx, err))
	}
	s := &subscription{presenter: h.presenter}
	following := context.WithValue(ctx, subscriptionKey{}, s)
	following, leave := a.guard.Stay(following) // extra:access|operate|tenants|websocket
	responses, ended := next(following), false
	return func(following context.Context) *graphql.Response {
		if ended {
			return nil
		}
		if response := responses(following); response != nil {
			return response
		}
		ended = true
		defer leave() // extra:access|operate|tenants|websocket
		if cause := context.Cause(following); cause != nil && ctx.Err() == nil {
			s.ended.Store(h.present(following, cause))
		}
		reason := s.ended.Load()
		if ctx.Err() != nil || reason == nil {
			return nil
		}
		return &graphql.Response{Errors: gqlerror.List{reason}, Data: []byte("null")}
	}
}

// Stream sends changes to a subscription until they end. Its goroutine ends with ctx, which is the subscription's.
func Stream[S, T any](ctx context.Context, changes iter.Seq2[S, error], form func(S) T) <-chan T {
	s := ctx.Value(subscriptionKey{}).(*subscription)
	sent := make(chan T)
	go func() {
		defer close(sent)
		for changed, err := range changes {
			if err != nil {
				s.ended.CompareAndSwap(nil, s.present(ctx, resolverError{err}))
				return
			}
			select {
			case sent <- form(changed):
			case <-ctx.Done():
				return
			}
		}
	}()
	return sent
}
