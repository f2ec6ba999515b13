package graphql

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql/handler/transport"

	"example.com/threads/domain/ident"
)

const (
	subprotocol       = "graphql-transport-ws"
	initTimeout       = 10 * time.Second
	maxOperations     = 100 // at once on one WebSocket
	tooManyOperations = "must wait: 100 operations run on this connection; end one of them, or open another connection"

	closeBadRequest = 4400 // of graphql-transport-ws: the client did something wrong
	closeGoingAway  = 1001 // of RFC 6455: connect again
)

// serveWebsocket lets a WebSocket in from the page's own origin, because browsers ask nobody before they open one.
func (h *handler) serveWebsocket(w http.ResponseWriter, r *http.Request) {
	if !sameOrigin(r) {
		h.refuse(w, r, http.StatusForbidden, &ident.InvalidError{Field: "Origin", Reason: "must be the origin of this server"})
		return
	}
	var offered []string
	for protocol := range strings.SplitSeq(strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ","), ",") {
		offered = append(offered, strings.TrimSpace(protocol))
	}
	if r.Method != http.MethodGet || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") || !slices.Contains(offered, subprotocol) {
		h.refuse(w, r, http.StatusBadRequest, &ident.InvalidError{Field: "Upgrade", Reason: "must be a WebSocket with the protocol " + subprotocol})
		return
	}
	ctx, cancel := h.untilStreamsEnd(r.Context())
	defer cancel()
	h.engine.ServeHTTP(w, r.WithContext(ctx))
}

func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true // not a browser
	}
	page, err := url.Parse(origin)
	return err == nil && strings.EqualFold(page.Host, r.Host)
}

func newWebsocket(streams context.Context, log *slog.Logger, keepAlive time.Duration) transport.Websocket {
	limit := int64(maxBody)
	return transport.Websocket{
		Implementation:   acceptor{streams: streams},
		InitFunc:         initConnection,
		InitTimeout:      initTimeout,
		PingPongInterval: keepAlive, // a client that does not answer is cut off after two of them
		PayloadReadLimit: &limit,
		ErrorFunc: func(ctx context.Context, err error) {
			log.DebugContext(ctx, "a WebSocket broke", "error", err)
		},
	}
}

// initConnection takes connection_init. Browsers can't set headers on a WebSocket: they name the tenant in its payload.
func initConnection(ctx context.Context, payload transport.InitPayload) (context.Context, *transport.InitPayload, error) {
	a := askerOf(ctx)
	a.running = new(atomic.Int32)
	if named, ok := payload[tenantHeader]; ok {
		code, isText := named.(string)
		tenant, err := parseTenant(code)
		if header := a.tenant; err == nil && (!isText || header.String() != "" && header != tenant) {
			err = &ident.InvalidError{Field: tenantHeader, Reason: "must be a text, and the same in the header and in connection_init"}
		}
		if err != nil {
			return transport.WithWebsocketCloseCode(transport.AppendCloseReason(ctx, codeBadInput+": "+err.Error()), closeBadRequest), nil, err
		}
		a.tenant = tenant
	}
	return withAsker(ctx, a), nil, nil
}

// acceptor accepts WebSockets that tell their clients to connect again when the streams end.
type acceptor struct {
	transport.CoderWebsocketImplementation
	streams context.Context // see handler
}

// Accept implements [transport.WebsocketImplementation].
func (a acceptor) Accept(w http.ResponseWriter, r *http.Request, options transport.WebsocketAcceptOptions) (transport.WebsocketConn, error) {
	options.Subprotocols = []string{subprotocol}
	conn, err := a.CoderWebsocketImplementation.Accept(w, r, options)
	if err != nil {
		return nil, err
	}
	return connection{conn.(limitedConn), a.streams}, nil
}

type limitedConn interface {
	transport.WebsocketConn
	transport.WebsocketReadLimiter
	transport.WebsocketReadDeadliner
}

type connection struct {
	limitedConn
	streams context.Context // see handler
}

// WriteJSON sends nothing any more once the streams end: a client must not take the end for the subscription's own.
func (c connection) WriteJSON(message any) error {
	if c.stopping() {
		return nil
	}
	return c.limitedConn.WriteJSON(message)
}

// WriteClose closes with 1001 once the streams end, which clients take as a reason to connect again.
func (c connection) WriteClose(code int, reason string) error {
	if c.stopping() {
		code, reason = closeGoingAway, "the server is stopping"
	}
	return c.limitedConn.WriteClose(code, reason)
}

func (c connection) stopping() bool { return c.streams.Err() != nil }
