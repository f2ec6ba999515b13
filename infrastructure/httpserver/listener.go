package httpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// listener refuses connections beyond the limit.
type listener struct {
	net.Listener
	log         *slog.Logger
	connections *connections
}

// Accept implements [net.Listener].
func (l listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if conn, ok := l.connections.enter(accepted.(*net.TCPConn)); ok {
			return conn, nil
		}
		l.refuse(accepted)
	}
}

// refuse answers a connection beyond the limit. The answer fits into the system's send buffer, so writing does not
// block.
func (l listener) refuse(conn net.Conn) {
	defer conn.Close()
	id := rand.Text()
	l.log.LogAttrs(context.Background(), slog.LevelWarn, "connection refused: as many are open as CONNECTION_LIMIT allows",
		slog.String("request_id", id))
	header := http.Header{"Content-Type": {"application/problem+json"}, requestIDHeader: {id}, "Retry-After": {"1"}}
	guard(header)
	body, err := json.Marshal(newProblem(http.StatusServiceUnavailable, "too_many_connections",
		"as many connections are open as this server takes; connect again later"))
	if err != nil || conn.SetWriteDeadline(time.Now().Add(time.Second)) != nil {
		return
	}
	answer := http.Response{
		StatusCode: http.StatusServiceUnavailable, ProtoMajor: 1, ProtoMinor: 1, Header: header, Close: true,
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}
	_ = answer.Write(conn)
}
