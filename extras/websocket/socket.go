package websocket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"

	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/graphql"
)

const (
	maxCloseReason = 123              // bytes, by RFC 6455
	maxUnanswered  = 2                // pings before a client counts as disconnected
	writeTimeout   = 15 * time.Second // of a message
)

// socket is a WebSocket. One goroutine reads it; each operation has a goroutine of its own.
type socket struct {
	ctx          context.Context // ends with the connection, or earlier with the streams
	cancel       context.CancelFunc
	endpoint     *graphql.Handler
	settings     Settings
	log          *slog.Logger
	conn         *websocket.Conn
	guard        admission.Guard
	headers      http.Header  // of the handshake
	acknowledged bool         // connection_init has arrived; only the reading goroutine uses it
	unanswered   atomic.Int32 // pings
	closing      atomic.Bool  // only the close frame may still be sent
	goroutines   sync.WaitGroup

	mu         sync.Mutex // guards operations and writing: nothing follows an operation's last message
	operations map[string]*running
}

// running is an operation in progress.
type running struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// serve reads the connection until it ends. When serve returns, all its operations have ended.
func (s *socket) serve() {
	whenStreamsEnd := context.AfterFunc(s.ctx, func() { s.close(websocket.StatusGoingAway, "the server is stopping") })
	tooLate := time.AfterFunc(s.settings.InitTimeout, func() { s.close(closeInitTimeout, "Connection initialisation timeout") })
	defer func() {
		whenStreamsEnd()
		tooLate.Stop()
		s.cancel()
		_ = s.conn.CloseNow()
		s.goroutines.Wait()
	}()
	for s.receive(tooLate.Stop) {
	}
}

// receive handles the next message. It returns false when there will be none.
func (s *socket) receive(inTime func() bool) bool {
	// The end of a context would cut the connection without a close frame.
	kind, arriving, err := s.conn.Reader(context.Background())
	if err != nil {
		s.log.DebugContext(s.ctx, "a WebSocket ended", "error", err)
		return false
	}
	// The read closes the connection if the message is too long.
	raw, err := io.ReadAll(io.LimitReader(arriving, shortMessage))
	if err == nil && len(raw) == shortMessage && s.acknowledged {
		var release func()
		if release, err = s.guard.Hold(maxMessage); err != nil {
			s.closeFor(closeTryAgainLater, err)
			return false
		}
		defer release()
	}
	if err == nil && len(raw) == shortMessage {
		var rest []byte
		rest, err = io.ReadAll(arriving)
		raw = append(raw, rest...)
	}
	if err != nil {
		s.log.DebugContext(s.ctx, "a WebSocket ended", "error", err)
		return false
	}
	m, err := readMessage(kind, raw)
	if err != nil {
		s.close(closeBadRequest, err.Error())
		return false
	}
	switch m.Type {
	case "connection_init":
		inTime()
		s.initialize(m.Payload)
	case "ping":
		s.send(s.ctx, message{Type: "pong", Payload: m.Payload})
	case "pong":
		s.unanswered.Store(0)
	case "subscribe":
		s.subscribe(m.ID, m.Payload)
	case "complete":
		s.end(m.ID)
	}
	return true
}

// close closes the connection with a code, once, and waits a few seconds for the client's close frame.
func (s *socket) close(code websocket.StatusCode, reason string) {
	if !s.closing.Swap(true) {
		s.cancel()
		reason = reason[:min(len(reason), maxCloseReason)] // it may contain what the client has sent
		_ = s.conn.Close(code, strings.ToValidUTF8(reason, ""))
	}
}

// closeFor closes the connection because of an error, whose code and text are the reason.
func (s *socket) closeFor(code websocket.StatusCode, err error) {
	shown := s.endpoint.Response(s.ctx, err).Errors[0]
	s.close(code, fmt.Sprintf("%s: %s", shown.Extensions["code"], shown.Message))
}

// initialize handles connection_init. Its payload may have tenant and token, because browsers can't set headers.
func (s *socket) initialize(payload json.RawMessage) {
	if s.acknowledged {
		s.close(closeTooManyInits, "Too many initialisation requests")
		return
	}
	said, _ := graphql.ReadObject("payload", payload) // never fails: readMessage has checked the payload
	tenant, err := tenantOf(said, s.headers)
	var principal admission.Principal
	if err == nil {
		principal, err = s.guard.Enter(admission.Ask{
			Stage: admission.Init, Rights: []admission.Right{admission.Read}, Tenant: tenant, Payload: said,
		})
	}
	if err != nil {
		code := closeBadRequest
		if refusal := (*admission.Refusal)(nil); errors.As(err, &refusal) {
			code = closeOf[refusal.Status]
		}
		s.closeFor(code, err)
		return
	}
	s.ctx = graphql.As(s.ctx, principal)
	s.acknowledged = true
	s.conn.SetReadLimit(maxMessage)
	s.send(s.ctx, message{Type: "connection_ack"})
	s.goroutines.Go(s.keepAlive)
	s.stay()
}

// keepAlive sends pings, and cuts the connection of a client that does not answer them.
func (s *socket) keepAlive() {
	for es.Wait(s.ctx, s.settings.KeepAlive) == nil {
		if s.unanswered.Add(1) > maxUnanswered {
			_ = s.conn.CloseNow()
			return
		}
		s.send(s.ctx, message{Type: "ping"})
	}
}

// stay closes the connection when it is not known any more who it is of. A caller who is refused for another reason
// keeps the connection, and may be admitted again.
func (s *socket) stay() {
	staying, leave := s.guard.Stay(s.ctx)
	context.AfterFunc(staying, func() {
		defer leave()
		var refusal *admission.Refusal
		switch {
		case s.ctx.Err() != nil || !errors.As(context.Cause(staying), &refusal):
		case refusal.Status == http.StatusUnauthorized:
			s.expire(refusal)
		default:
			s.stay()
		}
	})
}

// expire closes the connection after its subscriptions, which end by themselves. The code is not 4401, because clients
// do not reconnect after that.
func (s *socket) expire(refusal *admission.Refusal) {
	s.mu.Lock()
	operations := slices.Collect(maps.Values(s.operations))
	s.mu.Unlock()
	for _, op := range operations {
		<-op.ended
	}
	s.closeFor(closeForbidden, refusal)
}

// subscribe starts an operation.
func (s *socket) subscribe(id string, payload json.RawMessage) {
	s.mu.Lock()
	_, exists := s.operations[id]
	count := len(s.operations)
	s.mu.Unlock()
	switch {
	case !s.acknowledged:
		s.close(closeUnauthorized, "Unauthorized")
		return
	case exists:
		s.close(closeDuplicate, fmt.Sprintf("Subscriber for %s already exists", id))
		return
	}
	operation, release, refused := s.begin(count, id, payload)
	if refused != nil { // the id stays free
		errs, _ := json.Marshal(refused.Errors) // never fails: they are texts
		s.send(s.ctx, message{ID: id, Type: "error", Payload: errs})
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	op := &running{cancel: cancel, ended: make(chan struct{})}
	s.mu.Lock()
	s.operations[id] = op
	s.mu.Unlock()
	s.goroutines.Go(func() {
		defer close(op.ended)
		defer cancel()
		defer release()
		s.endpoint.Run(ctx, operation, func(answer *gqlgen.Response) bool {
			encoded, whole, release := s.endpoint.Hold(ctx, graphql.Encode(answer))
			defer release()
			return s.send(ctx, message{ID: id, Type: "next", Payload: encoded}) && whole
		})
		s.send(ctx, message{ID: id, Type: "complete"})
	})
}

// begin returns an operation that may run beside count others, or the answer of a refused one. Its memory is held until
// release, when the operation has ended: so an account has only so many, on all its connections.
func (s *socket) begin(count int, id string, payload json.RawMessage) (operation *gqlgen.OperationContext, release func(), refused *gqlgen.Response) {
	err := s.guard.Next(s.ctx)
	if err == nil && count >= s.settings.OperationLimit {
		err = &graphql.Refusal{Code: "TOO_MANY_OPERATIONS", Message: fmt.Sprintf(
			"%d operations run on this connection, and more are not accepted; end one of them, or open another connection", count)}
	}
	var params *gqlgen.RawParams
	if err == nil {
		params, err = graphql.ParseOperation("payload", payload)
	}
	if err == nil {
		release, err = s.guard.Hold(perOperation + len(id) + len(payload))
	}
	if err != nil {
		return nil, nil, s.endpoint.Response(s.ctx, err)
	}
	if operation, refused = s.endpoint.Begin(s.ctx, params); refused != nil {
		release()
	}
	return operation, release, refused
}

// send sends a message unless ctx has ended: that of an operation, whose id may be in use again after the client has
// ended it, or that of the connection. The message complete frees the id.
func (s *socket) send(ctx context.Context, m message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil || s.closing.Load() {
		return false
	}
	if m.Type == "complete" {
		delete(s.operations, m.ID)
	}
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	if err := s.conn.Write(writing, websocket.MessageText, m.encode()); err != nil && !s.closing.Swap(true) {
		s.log.DebugContext(ctx, "a WebSocket broke", "error", err)
		_ = s.conn.CloseNow()
	}
	return true
}

// end ends an operation completely, unless it has ended by itself. When it returns, the id is free.
func (s *socket) end(id string) {
	s.mu.Lock()
	op, exists := s.operations[id]
	delete(s.operations, id)
	if exists {
		op.cancel()
	}
	s.mu.Unlock()
	if exists {
		<-op.ended
	}
}
