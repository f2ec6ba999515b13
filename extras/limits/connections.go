package limits

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// stallTimeout limits the time a client takes to receive one piece of an answer, within the time for the whole
	// answer.
	stallTimeout = 5 * time.Second
	piece        = 32 << 10 // bytes

	// unsentTimeout is how long a stopping server waits for incomplete requests. It is short: an incomplete request has
	// not been accepted.
	unsentTimeout = time.Second
)

// Connections returns what bounds the connections of a server; see [httpserver.Server.Prepare]. A connection beyond
// the limit is answered with 503 and closed, a client that takes longer than 5 seconds for 32 KiB of an answer is cut
// off, and a stop waits one second for requests that have not arrived completely.
func Connections(most int, log *slog.Logger) func(*http.Server, net.Listener) net.Listener {
	return func(server *http.Server, from net.Listener) net.Listener {
		l := &listener{Listener: from, most: most, log: log, open: map[*connection]struct{}{}}
		server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, conn)
		}
		server.Handler = awaitBodies(server.Handler)
		server.RegisterOnShutdown(func() { time.AfterFunc(unsentTimeout, l.cutUnsent) })
		return l
	}
}

// listener knows the open connections.
type listener struct {
	net.Listener
	most int
	log  *slog.Logger

	mutex sync.Mutex
	open  map[*connection]struct{}
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
func (l *listener) enter(accepted *net.TCPConn) *connection {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.open) >= l.most {
		return nil
	}
	conn := &connection{TCPConn: accepted, listener: l}
	conn.unsent.Store(true)
	l.open[conn] = struct{}{}
	return conn
}

// cutUnsent ends reading from the connections on which the server waits for the client to send something.
func (l *listener) cutUnsent() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for conn := range l.open {
		if conn.unsent.Load() {
			_ = conn.SetReadDeadline(time.Now()) // fails only when the connection has ended
		}
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

// connection is a client's connection. It cuts off a client that does not receive its answer.
type connection struct {
	*net.TCPConn
	listener *listener
	unsent   atomic.Bool               // the server waits for the client to send something
	deadline atomic.Pointer[time.Time] // for writing, as net/http and handlers have set it; nil or zero: none
}

// Close implements [net.Conn].
func (c *connection) Close() error {
	c.listener.mutex.Lock()
	delete(c.listener.open, c)
	c.listener.mutex.Unlock()
	return c.TCPConn.Close()
}

// SetDeadline implements [net.Conn].
func (c *connection) SetDeadline(at time.Time) error {
	c.deadline.Store(&at)
	return c.TCPConn.SetDeadline(at)
}

// SetWriteDeadline implements [net.Conn].
func (c *connection) SetWriteDeadline(at time.Time) error {
	c.deadline.Store(&at)
	return c.TCPConn.SetWriteDeadline(at)
}

// Write implements [net.Conn]. It writes in pieces, each of which the client has to take in time.
func (c *connection) Write(answer []byte) (written int, err error) {
	for {
		until := time.Now().Add(stallTimeout)
		if whole := c.deadline.Load(); whole != nil && !whole.IsZero() && whole.Before(until) {
			until = *whole
		}
		if err := c.TCPConn.SetWriteDeadline(until); err != nil {
			return written, err
		}
		n, err := c.TCPConn.Write(answer[written:min(written+piece, len(answer))])
		written += n
		if err != nil || written == len(answer) {
			return written, err
		}
	}
}

// ReadFrom would let net/http write past Write.
func (c *connection) ReadFrom(from io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{c}, from)
}

type connectionKey struct{}

// awaitBodies tells each request's connection when the body has arrived, and when it waits for the client again.
func awaitBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := r.Context().Value(connectionKey{}).(*connection)
		conn.unsent.Store(r.ContentLength != 0)
		defer conn.unsent.Store(true)
		if r.ContentLength != 0 {
			r.Body = &awaitedBody{r.Body, conn}
		}
		next.ServeHTTP(w, r)
	})
}

type awaitedBody struct {
	io.ReadCloser
	conn *connection
}

// Read implements [io.Reader].
func (b *awaitedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if err == io.EOF {
		b.conn.unsent.Store(false)
	}
	return n, err
}
