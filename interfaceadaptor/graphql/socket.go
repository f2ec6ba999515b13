package graphql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"

	"example.com/threads/domain/ident"
)

const (
	maxOperations     = 100 // at once on one WebSocket
	maxUnanswered     = 2   // pings, before a client is taken for gone
	tooManyOperations = "100 operations run on this connection, which is the most; end one of them, or open another connection"
)

// socket is a WebSocket that speaks graphql-transport-ws. One goroutine reads it; each operation has a goroutine of its own.
type socket struct {
	ctx          context.Context // ends with the connection or, before that, with the streams
	cancel       context.CancelFunc
	handler      *handler
	conn         *websocket.Conn
	headers      http.Header  // of the handshake
	initialized  func()       // to be called with connection_init
	acknowledged bool         // connection_init has come; of the reading goroutine
	unanswered   atomic.Int32 // pings
	closing      atomic.Bool  // nothing is sent any more but the close frame
	goroutines   sync.WaitGroup

	mu         sync.Mutex // of operations, and of writing: nothing follows an operation's last message
	operations map[string]*running
}

// running is an operation.
type running struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// violation is what a connection is closed for.
type violation struct {
	code   websocket.StatusCode
	reason string
}

func newSocket(ctx context.Context, h *handler, conn *websocket.Conn, headers http.Header, initialized func()) *socket {
	s := &socket{handler: h, conn: conn, headers: headers, initialized: initialized, operations: map[string]*running{}}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// serve reads the connection until it ends. Nothing of it is left when serve returns.
func (s *socket) serve() {
	whenStreamsEnd := context.AfterFunc(s.ctx, func() { s.close(violation{closeGoingAway, "the server is stopping"}) })
	tooLate := time.AfterFunc(s.handler.settings.InitTimeout, func() {
		s.close(violation{closeInitTimeout, "Connection initialisation timeout"})
	})
	defer func() {
		whenStreamsEnd()
		tooLate.Stop()
		s.cancel()
		_ = s.conn.CloseNow()
		s.goroutines.Wait()
	}()
	for {
		// Not under a context: its end would cut the connection without a close frame.
		kind, raw, err := s.conn.Read(context.Background())
		switch {
		case errors.Is(err, websocket.ErrMessageTooBig):
			s.close(violation{websocket.StatusMessageTooBig, "a message must be 64 KiB at most"})
			return
		case err != nil:
			s.handler.log.DebugContext(s.ctx, "a WebSocket ended", "error", err)
			return
		}
		m, err := readMessage(kind, raw)
		if err != nil {
			s.close(violation{closeBadRequest, err.Error()})
			return
		}
		if m.Type == typeInit {
			tooLate.Stop()
		}
		if broken := s.receive(m); broken != nil {
			s.close(*broken)
			return
		}
	}
}

// close ends the connection with a code, and waits for the client to agree for a few seconds. Only the first call counts.
func (s *socket) close(v violation) {
	if !s.closing.Swap(true) {
		s.cancel()
		_ = s.conn.Close(v.code, cut(v.reason, maxCloseReason))
	}
}

// receive handles a message. It returns what the connection has to be closed for, if anything.
func (s *socket) receive(m message) *violation {
	switch m.Type {
	case typeInit:
		return s.initialize(m.Payload)
	case typePing:
		s.send(message{Type: typePong, Payload: m.Payload})
	case typePong:
		s.unanswered.Store(0)
	case typeSubscribe:
		return s.subscribe(m.ID, m.Payload)
	case typeComplete:
		s.end(m.ID)
	}
	return nil
}

// initialize takes connection_init. Browsers can't set headers on a WebSocket: they name the tenant in its payload.
func (s *socket) initialize(payload json.RawMessage) *violation {
	if s.acknowledged {
		return &violation{closeTooManyInits, "Too many initialisation requests"}
	}
	said, _ := readObject("payload", payload) // which it is: see readMessage
	a := askerOf(s.ctx)
	if named, ok := said[tenantHeader]; ok {
		code, isText := named.(string)
		tenant, err := parseTenant(code)
		if header := a.tenant; err == nil && (!isText || header.String() != "" && header != tenant) {
			err = &ident.InvalidError{Field: tenantHeader, Reason: "must be a text, and the same in the header and in connection_init"}
		}
		if err != nil {
			return &violation{closeBadRequest, codeBadInput + ": " + err.Error()}
		}
		a.tenant = tenant
	}
	s.ctx = withAsker(s.ctx, a)
	s.acknowledged = true
	s.initialized()
	s.send(message{Type: typeAck})
	s.goroutines.Go(s.keepAlive)
	return nil
}

// keepAlive sends pings, and cuts the connection of a client that does not answer them.
func (s *socket) keepAlive() {
	tick := time.NewTicker(s.handler.settings.KeepAlive)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		if s.unanswered.Add(1) > maxUnanswered {
			_ = s.conn.CloseNow()
			return
		}
		s.send(message{Type: typePing})
	}
}

// subscribe starts an operation.
func (s *socket) subscribe(id string, payload json.RawMessage) *violation {
	if !s.acknowledged {
		return &violation{closeUnauthorized, "Unauthorized"}
	}
	s.mu.Lock()
	_, exists := s.operations[id]
	count := len(s.operations)
	s.mu.Unlock()
	switch {
	case exists:
		return &violation{closeDuplicate, fmt.Sprintf("Subscriber for %s already exists", cut(id, maxQuotedFromMessage))}
	case count >= maxOperations:
		s.refuse(id, s.handler.presenter.response(s.ctx, &refusal{codeTooManyOperations, tooManyOperations}))
		return nil
	}
	params, err := paramsFromJSON("payload", payload)
	if err != nil {
		s.refuse(id, s.handler.presenter.response(s.ctx, err))
		return nil
	}
	params.Headers = s.headers
	operation, refused := s.handler.engine.begin(s.ctx, params)
	if refused != nil {
		s.refuse(id, refused)
		return nil
	}
	s.start(id, operation)
	return nil
}

// refuse tells that an operation has not begun. Its id is free.
func (s *socket) refuse(id string, answer *graphql.Response) {
	errs, err := json.Marshal(answer.Errors)
	if err != nil {
		errs = []byte("[]")
	}
	s.send(message{ID: id, Type: typeError, Payload: errs})
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
		s.handler.engine.run(ctx, operation, func(answer *graphql.Response) bool {
			return s.sendOf(ctx, message{ID: id, Type: typeNext, Payload: s.handler.engine.encode(ctx, answer)})
		})
		s.complete(ctx, id)
	})
}

// sendOf sends a message of an operation, unless that has been ended. The end that this may be is seen under the lock.
func (s *socket) sendOf(operation context.Context, m message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if operation.Err() != nil {
		return false
	}
	s.write(m)
	return true
}

// complete tells that an operation has ended by itself, and frees its id. Of one that the client has ended, or that ends
// because the server stops, it tells nothing: in the first case the id may be in use again.
func (s *socket) complete(operation context.Context, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if operation.Err() == nil {
		delete(s.operations, id)
		s.write(message{ID: id, Type: typeComplete})
	}
}

// end ends an operation for the client. When it returns, the id is free and nothing of the operation is left. An operation
// that has ended by itself in the meantime is no mistake.
func (s *socket) end(id string) {
	s.mu.Lock()
	op, exists := s.operations[id]
	if exists {
		delete(s.operations, id)
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

// write is to be called with mu held.
func (s *socket) write(m message) {
	if s.closing.Load() {
		return
	}
	raw, err := json.Marshal(m)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
		defer cancel()
		err = s.conn.Write(ctx, websocket.MessageText, raw)
	}
	if err != nil && !s.closing.Swap(true) {
		s.handler.log.DebugContext(s.ctx, "a WebSocket broke", "error", err)
		_ = s.conn.CloseNow()
	}
}
