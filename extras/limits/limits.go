// Package limits limits what each key may use, in requests per second ([Rate]) and in what is held at once ([Budget]),
// and what the clients of a server may hold open ([Connections]). extras/access uses it.
package limits

import (
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

const (
	// remembered is how many keys a [Rate] keeps. A forgotten key has its full allowance again; to force that, an
	// attacker must send requests with as many other keys.
	remembered = 100_000

	// A client has stallTimeout to receive each piece of an answer, within the time for the whole answer.
	stallTimeout = 5 * time.Second
	piece        = 32 << 10 // bytes
)

// Rate allows each key a number of requests per second, and as many at once; nil: any. It is safe for concurrent use.
type Rate struct {
	perSecond int
	limiters  *lru.Cache[string, *rate.Limiter]
}

// NewRate returns a rate; nil: perSecond is 0.
func NewRate(perSecond int) *Rate {
	if perSecond == 0 {
		return nil
	}
	limiters, _ := lru.New[string, *rate.Limiter](remembered) // fails only for a size below 1
	return &Rate{perSecond: perSecond, limiters: limiters}
}

// Take reports whether a request of the key is allowed now, and counts it then. Otherwise, one is within a second.
func (r *Rate) Take(key string) bool {
	if r == nil {
		return true
	}
	limiter, known := r.limiters.Get(key)
	if !known {
		limiter = rate.NewLimiter(rate.Limit(r.perSecond), r.perSecond)
		if before, exists, _ := r.limiters.PeekOrAdd(key, limiter); exists {
			limiter = before
		}
	}
	return limiter.Allow()
}

// Budget limits how much is held at once, in total and by each key; nil: no limit. It is safe for concurrent use.
type Budget struct {
	total, share int

	mutex sync.Mutex
	held  int
	by    map[string]int
}

// NewBudget returns a budget of total, of which one key can hold share, or one n above it; share 0: nil, no limit.
func NewBudget(total, share int) *Budget {
	if share == 0 {
		return nil
	}
	return &Budget{total: total, share: share, by: map[string]int{}}
}

// Hold reserves n for key and returns a function that releases it, which may be called repeatedly. It returns false if
// there is no room. An n above the total is admitted while nothing else is held.
func (b *Budget) Hold(key string, n int) (release func(), ok bool) {
	if b == nil {
		return func() {}, true
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if mine := b.by[key]; mine > 0 && mine+n > b.share || b.held > 0 && b.held+n > b.total {
		return nil, false
	}
	b.held += n
	b.by[key] += n
	return sync.OnceFunc(func() {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.held -= n
		if b.by[key] -= n; b.by[key] == 0 {
			delete(b.by, key)
		}
	}), true
}

// Connections returns what bounds the connections of a server; see [httpserver.Server.Prepare]. One beyond the limit is
// answered with 503 and closed. A client that takes longer than 5 seconds for 32 KiB of an answer is cut off.
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
			return &connection{accepted.(*net.TCPConn), leave}, nil
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
	leave func() // may be called repeatedly
}

func (c *connection) Close() error {
	c.leave()
	return c.TCPConn.Close()
}

// Write writes in pieces, each of which the client has to take in time. The connection's deadline is for the whole.
func (c *connection) Write(answer []byte) (written int, err error) {
	for {
		stalled := time.AfterFunc(stallTimeout, func() { _ = c.Close() })
		n, err := c.TCPConn.Write(answer[written:min(written+piece, len(answer))])
		stalled.Stop()
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
