package graphql

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/extras/access"
)

const maxUnanswered = 2 // pings before a client counts as disconnected

// socket is a WebSocket with the protocol graphql-transport-ws. One goroutine reads it; each operation has a goroutine
// of its own.
type socket struct {
	ctx          context.Context // ends with the connection, or earlier with the streams
	cancel       context.CancelFunc
	handler      *handler
	conn         *websocket.Conn
	headers      http.Header  // of the handshake
	initialized  func()       // must be called on connection_init
	leave        func()       // releases the account's connection
	acknowledged bool         // connection_init has arrived; only the reading goroutine uses it
	unanswered   atomic.Int32 // pings
	closing      atomic.Bool  // only the close frame may still be sent
	goroutines   sync.WaitGroup

	mu         sync.Mutex // guards operations and writing: nothing follows an operation's last message
	operations map[string]*running
}

// violation is the reason for closing a connection.
type violation struct {
	code   websocket.StatusCode
	reason string
}

func newSocket(ctx context.Context, h *handler, conn *websocket.Conn, headers http.Header, initialized func()) *socket {
	s := &socket{handler: h, conn: conn, headers: headers, initialized: initialized, leave: func() {}, operations: map[string]*running{}}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// serve reads the connection until it ends. When serve returns, all its operations have ended.
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
		s.leave()
	}()
	for {
		// The end of a context would cut the connection without a close frame.
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

// close closes the connection with a code and waits a few seconds for the client's close frame. Only the first call has
// an effect.
func (s *socket) close(v violation) {
	if !s.closing.Swap(true) {
		s.cancel()
		_ = s.conn.Close(v.code, cut(v.reason, maxCloseReason))
	}
}

// receive handles a message. It returns the reason to close the connection, if any.
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

// initialize handles connection_init. Its payload may contain tenant and token, because browsers can't set headers on a
// WebSocket.
func (s *socket) initialize(payload json.RawMessage) *violation {
	if s.acknowledged {
		return &violation{closeTooManyInits, "Too many initialisation requests"}
	}
	said, _ := readObject("payload", payload) // never fails: readMessage has checked the payload
	a, err := tenantIn(said, askerOf(s.ctx))
	if err == nil {
		a, err = s.admitSocket(a, said)
	}
	if err != nil {
		return violationOf(err)
	}
	leave, ok := s.handler.connections.enterAccount(a.principal.Client())
	if !ok {
		return violationOf(&limitRefusal{codeTooManyRequests, "this account has reached its limit of open connections"})
	}
	s.leave = leave
	s.ctx = withAsker(s.ctx, a)
	s.acknowledged = true
	s.initialized()
	s.send(message{Type: typeAck})
	s.goroutines.Go(s.keepAlive)
	if expires := a.principal.Expires(); !expires.IsZero() {
		s.goroutines.Go(func() { s.expire(expires) })
	}
	return nil
}

// tenantIn returns the asker in the tenant that the payload of connection_init names.
func tenantIn(payload map[string]any, a asker) (asker, error) {
	named, ok := payload[tenantHeader]
	if !ok {
		return a, nil
	}
	code, isText := named.(string)
	tenant, err := parseTenant(code)
	if header := a.tenant; err == nil && (!isText || header.String() != "" && header != tenant) {
		err = &ident.InvalidError{Field: tenantHeader, Reason: "must be a string, and the same in the header and in connection_init"}
	}
	a.tenant = tenant
	return a, err
}

// violationOf returns the reason for closing a connection whose connection_init is rejected.
func violationOf(err error) *violation {
	var denied *access.Refusal
	var full *limitRefusal
	switch {
	case errors.As(err, &denied):
		code := map[access.Reason]websocket.StatusCode{
			access.NotAuthenticated: closeUnauthorized,
			access.NotAllowed:       closeForbidden,
			access.TooMany:          closeTryAgainLater,
			access.NotNow:           closeTryAgainLater,
		}[denied.Reason]
		return &violation{code, denials[denied.Reason] + ": " + denied.Detail}
	case errors.As(err, &full):
		return &violation{closeTryAgainLater, full.code + ": " + full.message}
	}
	return &violation{closeBadRequest, codeBadInput + ": " + err.Error()}
}

// expire closes the connection when its token expires, after ending its subscriptions with an error. The code is not
// 4401, because clients do not reconnect after that.
func (s *socket) expire(at time.Time) {
	if es.Wait(s.ctx, time.Until(at)) != nil {
		return
	}
	for _, op := range s.runningNow() {
		<-op.ended
	}
	s.close(violation{closeForbidden, codeUnauthenticated + ": the token has expired; connect again with a new one"})
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
	raw, err := m.encode()
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
