package graphql

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// The messages of graphql-transport-ws.
const (
	typeInit      = "connection_init"
	typeAck       = "connection_ack"
	typePing      = "ping"
	typePong      = "pong"
	typeSubscribe = "subscribe"
	typeNext      = "next"
	typeError     = "error"
	typeComplete  = "complete"
)

// The close codes of a WebSocket: those of graphql-transport-ws, and 1001 and 1013 of RFC 6455.
const (
	closeGoingAway     websocket.StatusCode = 1001 // reconnect
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
	maxQuoted      = 40  // bytes of client input in a reason
)

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
	case typeSubscribe, typeComplete:
		if m.ID == "" {
			return m, fmt.Errorf("%s must have an id, a string that is not empty", m.Type)
		}
	case typeInit, typePing, typePong:
		if _, err := readObject("payload", m.Payload); err != nil {
			return m, fmt.Errorf("the payload of %s must be an object", m.Type)
		}
	default:
		return m, fmt.Errorf("there is no message of type %q for clients to send", cut(m.Type, maxQuoted))
	}
	return m, nil
}

// cut returns the first bytes of a text, at most so many.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// encode writes the message as JSON. The payload is already JSON and may be large, so it is copied once.
func (m message) encode() ([]byte, error) {
	id, err := json.Marshal(m.ID)
	if err != nil {
		return nil, err
	}
	var entries [][]byte
	if m.ID != "" {
		entries = append(entries, []byte(`"id":`), id)
	}
	entries = append(entries, []byte(`"type":`), []byte(`"`+m.Type+`"`))
	if len(m.Payload) > 0 {
		entries = append(entries, []byte(`"payload":`), m.Payload)
	}
	return object(entries), nil
}
