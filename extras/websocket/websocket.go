// Package websocket serves GraphQL over WebSockets with the protocol graphql-transport-ws, beside the transports of
// interfaceadaptor/graphql. One connection carries many operations.
package websocket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	trusting "github.com/segmentio/encoding/json"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/infrastructure/config"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/graphql"
)

const (
	subprotocol  = "graphql-transport-ws"
	tenantHeader = "X-Tenant-Code"
	maxMessage   = 64 << 10 // bytes
	firstMessage = 16 << 10 // bytes of connection_init, and of what comes before
	shortMessage = 4 << 10  // bytes of a message that is not held as memory while it arrives
	perOperation = 4 << 10  // bytes that an operation takes, beside what the client has sent
)

// Settings are set by operators. A zero field takes its default.
type Settings struct {
	KeepAlive      time.Duration // between two pings: 15 s
	InitTimeout    time.Duration // limit from opening a connection to its connection_init: 10 s
	OperationLimit int           // concurrent operations of a connection: 256
}

func ReadSettings(r *config.Reader) Settings {
	return Settings{OperationLimit: r.Group("WebSockets (extras/websocket)").Int("WEBSOCKET_OPERATION_LIMIT", 256, 1, 10_000,
		"operations at once on one WebSocket; one more is refused")}
}

// Around returns the middleware that serves WebSockets by the steps of endpoint, and passes other requests on.
func (s Settings) Around(endpoint *graphql.Handler, log *slog.Logger) func(http.Handler) http.Handler {
	s.KeepAlive = cmp.Or(s.KeepAlive, 15*time.Second)
	s.InitTimeout = cmp.Or(s.InitTimeout, 10*time.Second)
	s.OperationLimit = cmp.Or(s.OperationLimit, 256)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
				next.ServeHTTP(w, r)
				return
			}
			endpoint.Admitted(w, r, admission.Handshake, func(r *http.Request) { s.accept(w, r, endpoint, log) })
		})
	}
}

// accept accepts WebSockets only from pages of this origin, because browsers send no preflight for them. A middleware
// that trusts a page of another origin takes the header Origin away.
func (s Settings) accept(w http.ResponseWriter, r *http.Request, endpoint *graphql.Handler, log *slog.Logger) {
	offered := strings.Split(strings.ReplaceAll(strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ","), " ", ""), ",")
	if !slices.Contains(offered, subprotocol) {
		endpoint.Refuse(w, r, http.StatusBadRequest, &ident.InvalidError{Field: "Sec-WebSocket-Protocol", Reason: "must name " + subprotocol})
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}})
	if err != nil { // Accept has answered
		log.DebugContext(r.Context(), "a WebSocket was refused", "error", err)
		return
	}
	conn.SetReadLimit(firstMessage)
	socket := &socket{
		endpoint: endpoint, settings: s, log: log, conn: conn, guard: admission.Of(r), headers: r.Header, operations: map[string]*running{},
	}
	socket.ctx, socket.cancel = context.WithCancel(r.Context())
	socket.serve()
}

// tenantOf returns the tenant that the payload of connection_init names, or the header of the handshake.
func tenantOf(payload map[string]any, handshake http.Header) (es.Tenant, error) {
	header, err := graphql.TenantOf(handshake)
	named, ok := payload[tenantHeader]
	if !ok || err != nil {
		return header, err
	}
	code, isText := named.(string)
	tenant, err := es.ParseTenant(code)
	if err != nil || !isText || header != "" && header != tenant {
		return "", &ident.InvalidError{Field: tenantHeader, Reason: "must be 1 to 32 characters out of a-z, 0-9 and -, and the same in the header and in connection_init"}
	}
	return tenant, nil
}

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

// closeOf has the close codes of refused requests, by the status of their refusal.
var closeOf = map[int]websocket.StatusCode{
	http.StatusUnauthorized:       closeUnauthorized,
	http.StatusForbidden:          closeForbidden,
	http.StatusTooManyRequests:    closeTryAgainLater,
	http.StatusServiceUnavailable: closeTryAgainLater,
}

// message is a message of graphql-transport-ws.
type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// readMessage parses a client's message, but for the payload of a subscribe: an error in it needs the operation's id.
func readMessage(kind websocket.MessageType, raw []byte) (message, error) {
	var m message
	var members map[string]json.RawMessage // keeps names apart that differ in case
	isMessage := kind == websocket.MessageText && utf8.Valid(raw) && json.Unmarshal(raw, &members) == nil
	for name, into := range map[string]any{"id": &m.ID, "type": &m.Type, "payload": &m.Payload} {
		if value, is := members[name]; is {
			isMessage = json.Unmarshal(value, into) == nil && isMessage
		}
	}
	if !isMessage {
		return m, errors.New("a message must be one JSON object, in a text frame")
	}
	switch m.Type {
	case "subscribe", "complete":
		if m.ID == "" {
			return m, fmt.Errorf("%s must have an id, a string that is not empty", m.Type)
		}
	case "connection_init", "ping", "pong":
		if _, err := graphql.ReadObject("payload", m.Payload); err != nil {
			return m, fmt.Errorf("the payload of %s must be an object", m.Type)
		}
	default:
		return m, fmt.Errorf("there is no message of type %q for clients to send", m.Type)
	}
	return m, nil
}

// encode writes the message as JSON. The payload is already JSON and may be large, so it is copied once.
func (m message) encode() []byte {
	room := make([]byte, 0, len(m.ID)+len(m.Payload)+64)
	encoded, _ := trusting.Append(room, m, trusting.TrustRawMessage) // never fails: the rest are strings
	return encoded
}
