package graphql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"

	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/admission"
)

const subprotocol = "graphql-transport-ws"

// The close codes of a WebSocket: those of graphql-transport-ws, and 1013 of RFC 6455.
const (
	closeTryAgainLater websocket.StatusCode = 1013
	closeBadRequest    websocket.StatusCode = 4400
	closeUnauthorized  websocket.StatusCode = 4401
	closeForbidden     websocket.StatusCode = 4403
	closeInitTimeout   websocket.StatusCode = 4408
	closeDuplicate     websocket.StatusCode = 4409
	closeTooManyInits  websocket.StatusCode = 4429
)

const (
	maxCloseReason = 123 // bytes, by RFC 6455
	maxUnanswered  = 2   // pings before a client counts as disconnected
)

// serveWebsocket accepts WebSockets only from pages of this origin, because browsers send no preflight for them. A
// middleware that trusts a page of another origin takes the header Origin away.
func (h *handler) serveWebsocket(w http.ResponseWriter, r *http.Request) {
	offered := strings.Split(strings.ReplaceAll(strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ","), " ", ""), ",")
	if !slices.Contains(offered, subprotocol) {
		h.refuse(w, r, http.StatusBadRequest, &ident.InvalidError{Field: "Sec-WebSocket-Protocol", Reason: "must name " + subprotocol})
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}})
	if err != nil { // Accept has answered
		h.log.DebugContext(r.Context(), "a WebSocket was refused", "error", err)
		return
	}
	conn.SetReadLimit(maxBody)
	s := &socket{handler: h, conn: conn, headers: r.Header, operations: map[string]*running{}}
	s.ctx, s.cancel = context.WithCancel(r.Context())
	s.serve()
}

// message is a message of graphql-transport-ws.
type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// readMessage parses a client's message. It leaves the payload of a subscribe unparsed, because an error in it is
// reported under the operation's id.
func readMessage(kind websocket.MessageType, raw []byte) (message, error) {
	var m message
	if kind != websocket.MessageText || !utf8.Valid(raw) || json.Unmarshal(raw, &m) != nil {
		return m, errors.New("a message must be one JSON object, in a text frame")
	}
	switch m.Type {
	case "subscribe", "complete":
		if m.ID == "" {
			return m, fmt.Errorf("%s must have an id, a string that is not empty", m.Type)
		}
	case "connection_init", "ping", "pong":
		if _, err := readObject("payload", m.Payload); err != nil {
			return m, fmt.Errorf("the payload of %s must be an object", m.Type)
		}
	default:
		return m, fmt.Errorf("there is no message of type %q for clients to send", m.Type)
	}
	return m, nil
}

// encode writes the message as JSON. The payload is already JSON and may be large, so it is copied once.
func (m message) encode() []byte {
	payload := m.Payload
	m.Payload = nil
	head, err := json.Marshal(m)
	switch {
	case err != nil: // never: they are strings
		panic(err)
	case len(payload) == 0:
		return head
	}
	return slices.Concat(head[:len(head)-1], []byte(`,"payload":`), payload, []byte(`}`))
}

// socket is a WebSocket with the protocol graphql-transport-ws. One goroutine reads it; each operation has a goroutine
// of its own.
type socket struct {
	ctx          context.Context // ends with the connection, or earlier with the streams
	cancel       context.CancelFunc
	handler      *handler
	conn         *websocket.Conn
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
	tooLate := time.AfterFunc(s.handler.settings.InitTimeout, func() { s.close(closeInitTimeout, "Connection initialisation timeout") })
	defer func() {
		whenStreamsEnd()
		tooLate.Stop()
		s.cancel()
		_ = s.conn.CloseNow()
		s.goroutines.Wait()
	}()
	for {
		// The end of a context would cut the connection without a close frame. Read closes it if a message is too long.
		kind, raw, err := s.conn.Read(context.Background())
		if err != nil {
			s.handler.log.DebugContext(s.ctx, "a WebSocket ended", "error", err)
			return
		}
		m, err := readMessage(kind, raw)
		if err != nil {
			s.close(closeBadRequest, err.Error())
			return
		}
		switch m.Type {
		case "connection_init":
			tooLate.Stop()
			s.initialize(m.Payload)
		case "ping":
			s.send(message{Type: "pong", Payload: m.Payload})
		case "pong":
			s.unanswered.Store(0)
		case "subscribe":
			s.subscribe(m.ID, m.Payload)
		case "complete":
			s.end(m.ID)
		}
	}
}

// close closes the connection with a code and waits a few seconds for the client's close frame. Only the first call has
// an effect.
func (s *socket) close(code websocket.StatusCode, reason string) {
	if !s.closing.Swap(true) {
		s.cancel()
		reason = reason[:min(len(reason), maxCloseReason)] // it may contain what the client has sent
		_ = s.conn.Close(code, strings.ToValidUTF8(reason, ""))
	}
}

// initialize handles connection_init. Its payload may contain tenant and token, because browsers can't set headers on a
// WebSocket.
func (s *socket) initialize(payload json.RawMessage) {
	if s.acknowledged {
		s.close(closeTooManyInits, "Too many initialisation requests")
		return
	}
	said, _ := readObject("payload", payload) // never fails: readMessage has checked the payload
	a := askerOf(s.ctx)
	tenant, err := tenantIn(said, s.headers)
	if err == nil {
		a.Principal, err = a.guard.Enter(admission.Ask{
			Stage: admission.Init, Rights: []admission.Right{admission.Read}, Tenant: tenant, Payload: said,
		})
	}
	if refusal := (*admission.Refusal)(nil); errors.As(err, &refusal) {
		denial := denials[refusal.Status]
		s.close(denial.close, denial.code+": "+refusal.Detail)
		return
	} else if err != nil {
		s.close(closeBadRequest, codeBadInput+": "+err.Error())
		return
	}
	s.ctx = withAsker(s.ctx, a)
	s.acknowledged = true
	s.send(message{Type: "connection_ack"})
	s.goroutines.Go(s.keepAlive)
}

// keepAlive sends pings, and cuts the connection of a client that does not answer them or may not stay.
func (s *socket) keepAlive() {
	tick := time.NewTicker(s.handler.settings.KeepAlive)
	defer tick.Stop()
	staying, leave := askerOf(s.ctx).guard.Stay(s.ctx)
	defer leave()
	shutOut := staying.Done()
	for {
		select {
		case <-tick.C:
		case <-shutOut:
			shutOut = nil
			s.expire(context.Cause(staying))
			continue
		case <-s.ctx.Done():
			return
		}
		if s.unanswered.Add(1) > maxUnanswered {
			_ = s.conn.CloseNow()
			return
		}
		s.send(message{Type: "ping"})
	}
}

// expire closes the connection when it is not known any more who it is of, after its subscriptions have ended with an
// error. The code is not 4401, because clients do not reconnect after that. A caller who is refused for another reason
// keeps the connection, and may be admitted again.
func (s *socket) expire(cause error) {
	var refusal *admission.Refusal
	if s.ctx.Err() != nil || !errors.As(cause, &refusal) || refusal.Status != http.StatusUnauthorized {
		return
	}
	s.mu.Lock()
	operations := slices.Collect(maps.Values(s.operations))
	s.mu.Unlock()
	for _, op := range operations {
		<-op.ended
	}
	s.close(closeForbidden, codeUnauthenticated+": "+refusal.Detail)
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
	operation, refused := s.begin(count, payload)
	if refused == nil {
		s.start(id, operation)
		return
	}
	errs, _ := json.Marshal(refused.Errors) // never fails: they are from present
	s.send(message{ID: id, Type: "error", Payload: errs})
}

// begin returns an operation that may run beside count others, or the answer of a refused one. Its id is free again.
func (s *socket) begin(count int, payload json.RawMessage) (*graphql.OperationContext, *graphql.Response) {
	var err error
	if count >= s.handler.settings.OperationLimit {
		err = &Refusal{codeTooManyOperations, fmt.Sprintf(
			"%d operations run on this connection, and more are not accepted; end one of them, or open another connection", count)}
	} else {
		err = askerOf(s.ctx).guard.Next(s.ctx)
	}
	var params *graphql.RawParams
	if err == nil {
		params, err = paramsFromJSON("payload", payload)
	}
	if err != nil {
		return nil, s.handler.response(s.ctx, err)
	}
	return s.handler.begin(s.ctx, params)
}

func (s *socket) start(id string, operation *graphql.OperationContext) {
	ctx, cancel := context.WithCancel(s.ctx)
	op := &running{cancel: cancel, ended: make(chan struct{})}
	s.mu.Lock()
	s.operations[id] = op
	s.mu.Unlock()
	s.goroutines.Go(func() {
		defer close(op.ended)
		defer cancel()
		s.handler.run(ctx, operation, func(answer *graphql.Response) bool {
			encoded, release, whole := s.handler.encode(ctx, answer)
			defer release()
			return s.sendOf(ctx, message{ID: id, Type: "next", Payload: encoded}) && whole
		})
		s.sendOf(ctx, message{ID: id, Type: "complete"})
	})
}

// sendOf sends a message of an operation unless the client has ended it, because the id may be in use again, or the
// server stops. The message complete frees the id.
func (s *socket) sendOf(operation context.Context, m message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if operation.Err() != nil {
		return false
	}
	if m.Type == "complete" {
		delete(s.operations, m.ID)
	}
	s.write(m)
	return true
}

// end ends an operation on the client's request. When it returns, the operation has ended completely and the id is
// free. It is not an error if the operation has already ended by itself.
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

func (s *socket) send(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(m)
}

// write must be called with mu held.
func (s *socket) write(m message) {
	if s.closing.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	if err := s.conn.Write(ctx, websocket.MessageText, m.encode()); err != nil && !s.closing.Swap(true) {
		s.handler.log.DebugContext(s.ctx, "a WebSocket broke", "error", err)
		_ = s.conn.CloseNow()
	}
}
