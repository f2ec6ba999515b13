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
	"example.com/threads/interfaceadaptor/admission"
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

func newSocket(ctx context.Context, h *handler, conn *websocket.Conn, headers http.Header) *socket {
	s := &socket{handler: h, conn: conn, headers: headers, operations: map[string]*running{}}
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
	a := askerOf(s.ctx)
	tenant, err := tenantIn(said, s.headers)
	if err == nil {
		a.Principal, err = a.guard.Enter(admission.Ask{
			Stage: admission.Init, Rights: []admission.Right{admission.Read}, Tenant: tenant, Payload: said,
		})
	}
	if err != nil {
		return violationOf(err)
	}
	s.ctx = withAsker(s.ctx, a)
	s.acknowledged = true
	s.send(message{Type: typeAck})
	s.goroutines.Go(s.keepAlive)
	return nil
}

// tenantIn returns the tenant that the payload of connection_init names, or the header of the handshake.
func tenantIn(payload map[string]any, handshake http.Header) (es.Tenant, error) {
	header, err := tenantFrom(handshake)
	named, ok := payload[tenantHeader]
	if !ok || err != nil {
		return header, err
	}
	code, isText := named.(string)
	tenant, err := parseTenant(code)
	if err == nil && (!isText || header != "" && header != tenant) {
		err = &ident.InvalidError{Field: tenantHeader, Reason: "must be a string, and the same in the header and in connection_init"}
	}
	return tenant, err
}

// violationOf returns the reason for closing a connection whose connection_init is rejected.
func violationOf(err error) *violation {
	if denied := (*admission.Refusal)(nil); errors.As(err, &denied) {
		as := denials[denied.Status]
		return &violation{as.close, as.code + ": " + denied.Detail}
	}
	return &violation{closeBadRequest, codeBadInput + ": " + err.Error()}
}

// expire closes the connection when it is not known any more who it is of, after its subscriptions have ended with an
// error. The code is not 4401, because clients do not reconnect after that. A caller who is refused for another reason
// keeps the connection, and may be admitted again.
func (s *socket) expire(cause error) {
	var refusal *admission.Refusal
	if s.ctx.Err() != nil || !errors.As(cause, &refusal) || refusal.Status != http.StatusUnauthorized {
		return
	}
	for _, op := range s.runningNow() {
		<-op.ended
	}
	s.close(violation{closeForbidden, codeUnauthenticated + ": " + refusal.Detail})
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
