package limits

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
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

// connection is a client's connection. It knows whether the server waits for the client to send something, because then
// a stop is not delayed for long; and it cuts off a client that does not receive its answer.
type connection struct {
	*net.TCPConn
	onClose func()

	mutex    sync.Mutex
	unsent   bool      // the server waits for the client
	stopping bool      // the server stops
	deadline time.Time // for writing, as net/http and handlers have set it; zero: none
}

// newConnection returns a connection that waits for a request.
func newConnection(conn *net.TCPConn, onClose func()) *connection {
	return &connection{TCPConn: conn, onClose: sync.OnceFunc(onClose), unsent: true}
}

// Close implements [net.Conn].
func (c *connection) Close() error {
	c.onClose()
	return c.TCPConn.Close()
}

// SetDeadline implements [net.Conn].
func (c *connection) SetDeadline(at time.Time) error {
	c.setWriteDeadline(at)
	return c.TCPConn.SetDeadline(at)
}

// SetWriteDeadline implements [net.Conn].
func (c *connection) SetWriteDeadline(at time.Time) error {
	c.setWriteDeadline(at)
	return c.TCPConn.SetWriteDeadline(at)
}

func (c *connection) setWriteDeadline(at time.Time) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.deadline = at
}

// Write implements [net.Conn]. It writes in pieces, each of which the client has to take in time.
func (c *connection) Write(answer []byte) (written int, err error) {
	for {
		next := answer[written:min(written+piece, len(answer))]
		if err := c.TCPConn.SetWriteDeadline(c.pieceDeadline()); err != nil {
			return written, err
		}
		n, err := c.TCPConn.Write(next)
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

func (c *connection) pieceDeadline() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	at := time.Now().Add(stallTimeout)
	if !c.deadline.IsZero() && c.deadline.Before(at) {
		return c.deadline
	}
	return at
}

// await records whether the server waits for the client to send something.
func (c *connection) await(unsent bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.unsent = unsent
	if c.stopping {
		c.limitUnsent()
	}
}

// stop tells the connection that the server stops.
func (c *connection) stop() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.stopping = true
	if c.unsent {
		c.limitUnsent()
	}
}

// limitUnsent must be called with mutex held. The limit goes as soon as the server waits no more: net/http reads on
// while a handler runs, to learn that the client has gone.
func (c *connection) limitUnsent() {
	var at time.Time
	if c.unsent {
		at = time.Now().Add(unsentTimeout)
	}
	_ = c.SetReadDeadline(at) // fails only when the connection has ended
}

type connectionKey struct{}

// withConnection is an [http.Server.ConnContext].
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// awaitBodies tells each request's connection when the body has arrived, and when it waits for the client again.
func awaitBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := r.Context().Value(connectionKey{}).(*connection)
		conn.await(r.ContentLength != 0)
		defer conn.await(true)
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
		b.conn.await(false)
	}
	return n, err
}
