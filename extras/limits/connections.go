package limits

import (
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"time"
)

const (
	// stallTimeout limits the time a client takes to receive one piece of an answer, within the time for the whole
	// answer.
	stallTimeout = 5 * time.Second
	piece        = 32 << 10 // bytes
)

// Connections returns what bounds the connections of a server; see [httpserver.Server.Prepare]. A connection beyond
// the limit is answered with 503 and closed, and a client that takes longer than 5 seconds for 32 KiB of an answer is
// cut off.
func Connections(most int, log *slog.Logger) func(net.Listener) net.Listener {
	return func(from net.Listener) net.Listener { return &listener{from, NewBudget(most, most), log} }
}

// listener counts the open connections.
type listener struct {
	net.Listener
	room *Budget
	log  *slog.Logger
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if leave, ok := l.room.Hold("", 1); ok {
			return &connection{TCPConn: accepted.(*net.TCPConn), leave: leave}, nil
		}
		l.refuse(accepted)
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
	leave    func()                    // may be called repeatedly
	deadline atomic.Pointer[time.Time] // for writing, as net/http and handlers have set it; nil or zero: none
}

func (c *connection) Close() error {
	c.leave()
	return c.TCPConn.Close()
}

func (c *connection) SetDeadline(at time.Time) error {
	c.deadline.Store(&at)
	return c.TCPConn.SetDeadline(at)
}

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
