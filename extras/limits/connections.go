package limits

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Connections returns what bounds the connections of a server; see [httpserver.Server.Prepare]. A connection beyond
// the limit is answered with 503 and closed, a client that takes longer than 5 seconds for 32 KiB of an answer is cut
// off, and a stop waits one second for requests that have not arrived completely.
func Connections(most int, log *slog.Logger) func(*http.Server, net.Listener) net.Listener {
	return func(server *http.Server, from net.Listener) net.Listener {
		l := &listener{Listener: from, most: most, log: log, open: map[*connection]struct{}{}}
		server.ConnContext = withConnection
		server.Handler = awaitBodies(server.Handler)
		server.RegisterOnShutdown(l.stop)
		return l
	}
}

// listener knows the open connections.
type listener struct {
	net.Listener
	most int
	log  *slog.Logger

	mutex    sync.Mutex
	open     map[*connection]struct{}
	stopping bool
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if conn := l.enter(accepted.(*net.TCPConn)); conn != nil {
			return conn, nil
		}
		l.refuse(accepted)
	}
}

// enter adds a connection; nil if there is no room.
func (l *listener) enter(conn *net.TCPConn) *connection {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.open) >= l.most {
		return nil
	}
	var entered *connection
	entered = newConnection(conn, func() {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		delete(l.open, entered)
	})
	l.open[entered] = struct{}{}
	if l.stopping {
		entered.stop()
	}
	return entered
}

func (l *listener) stop() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.stopping = true
	for conn := range l.open {
		conn.stop()
	}
}

// refusal is the answer to a connection beyond the limit, with its request id and the body's length.
const (
	refusal = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nX-Request-Id: %s\r\nRetry-After: 1\r\n" +
		"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
	refused = `{"status":503,"title":"Service Unavailable","detail":"as many connections are open as this server takes; connect again later",` +
		`"code":"too_many_connections"}`
)

// refuse answers a connection. The answer fits into the system's send buffer, so writing does not block.
func (l *listener) refuse(conn net.Conn) {
	defer conn.Close()
	id := rand.Text()
	l.log.Warn("connection refused: as many are open as CONNECTION_LIMIT allows", "request_id", id)
	if conn.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		_, _ = fmt.Fprintf(conn, refusal, id, len(refused), refused) // fails only if the client has disconnected
	}
}
