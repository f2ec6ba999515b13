package websocket

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/coder/websocket"
	trusting "github.com/segmentio/encoding/json"
)

const maxMessage = 64 << 10 // bytes

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
		if _, err := objectOf(m.Payload); err != nil {
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

// objectOf decodes a JSON object; nil: it is missing or null.
func objectOf(raw json.RawMessage) (object map[string]any, err error) {
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &object)
	}
	return object, err
}
