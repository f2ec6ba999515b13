package graphql

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/coder/websocket"

	"example.com/threads/domain/ident"
)

const subprotocol = "graphql-transport-ws"

// tokens returns the elements of a header that is a list.
func tokens(header http.Header, name string) []string {
	list := strings.Split(strings.Join(header.Values(name), ","), ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// wantsWebsocket reports whether a request asks for a WebSocket. Other upgrades are not offered.
func wantsWebsocket(r *http.Request) bool {
	return slices.ContainsFunc(tokens(r.Header, "Upgrade"), func(name string) bool { return strings.EqualFold(name, "websocket") })
}

// serveWebsocket accepts WebSockets only from pages of this origin, because browsers send no preflight for them. A
// middleware that trusts a page of another origin takes the header Origin away.
func (h *handler) serveWebsocket(w http.ResponseWriter, r *http.Request) {
	if !sameOrigin(r) {
		h.refuse(w, r, http.StatusForbidden, &ident.InvalidError{Field: "Origin", Reason: "must be the origin of this server, or one that it allows"})
		return
	}
	if !slices.Contains(tokens(r.Header, "Sec-WebSocket-Protocol"), subprotocol) {
		h.refuse(w, r, http.StatusBadRequest, &ident.InvalidError{Field: "Sec-WebSocket-Protocol", Reason: "must name " + subprotocol})
		return
	}
	if !h.connections.TryAcquire(1) {
		h.refuseConnection(w, r)
		return
	}
	defer h.connections.Release(1)

	kept := &handshake{ResponseWriter: w}
	conn, err := websocket.Accept(kept, r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol}, InsecureSkipVerify: true, // the origin was checked above
	})
	if err != nil {
		h.refuse(w, r, kept.refusedWith, &ident.InvalidError{Field: "handshake", Reason: "must be that of a WebSocket: " + err.Error()})
		return
	}
	conn.SetReadLimit(maxBody)
	ctx, cancel := h.untilStreamsEnd(r.Context())
	defer cancel()
	newSocket(ctx, h, conn, r.Header).serve()
}

// refuseConnection answers a client beyond the limit of open connections.
func (h *handler) refuseConnection(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "1")
	h.refuse(w, r, http.StatusServiceUnavailable, &limitRefusal{codeUnavailable,
		"the server has reached its limit of open WebSockets and event streams; reconnect later"})
}

func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true // not a browser
	}
	page, err := url.Parse(origin)
	return err == nil && strings.EqualFold(page.Host, r.Host)
}

// handshake discards the response of [websocket.Accept] to a request that it refuses, because we answer those.
type handshake struct {
	http.ResponseWriter
	refusedWith int // the status; 0: not refused
}

// Unwrap lets Accept hijack the connection.
func (h *handshake) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (h *handshake) WriteHeader(status int) {
	if status < http.StatusBadRequest {
		h.ResponseWriter.WriteHeader(status)
		return
	}
	h.refusedWith = status
}

// Write implements [http.ResponseWriter].
func (h *handshake) Write(body []byte) (int, error) { return len(body), nil }
