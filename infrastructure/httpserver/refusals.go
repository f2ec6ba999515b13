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
	"strings"
	"time"
)

// refusals is a listener for net/http, which rejects some requests before any handler sees them, in plain text or
// without a body. On connections of this listener these responses become problem documents and are logged.
type refusals struct {
	net.Listener
	log         *slog.Logger
	connections *connections
}

// Accept implements [net.Listener]. Connections beyond the limit are refused at once.
func (l refusals) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		conn, ok := l.connections.enter(accepted.(*net.TCPConn))
		if ok {
			return refusalConn{conn, l.log}, nil
		}
		l.refuse(accepted)
	}
}

// refuse answers a connection beyond the limit. The answer fits into the system's send buffer, so writing does not
// block.
func (l refusals) refuse(conn net.Conn) {
	defer conn.Close()
	id := rand.Text()
	l.log.LogAttrs(context.Background(), slog.LevelWarn, "connection refused: as many are open as CONNECTION_LIMIT allows",
		slog.String("request_id", id))
	if conn.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		_ = writeRefusal(conn, full, true, id)
	}
}

var full = newProblem(503, "too_many_connections", "as many connections are open as this server takes; connect again later")

type refusalConn struct {
	*connection
	log *slog.Logger
}

// Write implements [net.Conn]. net/http writes such a response in one call.
func (c refusalConn) Write(answer []byte) (int, error) {
	refusal, withBody, is := refusalIn(answer)
	if !is {
		return c.connection.Write(answer)
	}
	id := rand.Text()
	c.log.LogAttrs(context.Background(), slog.LevelInfo, "request refused",
		slog.String("request_id", id), slog.Int("status", refusal.Status), slog.String("detail", refusal.Detail))
	if err := writeRefusal(c.connection, refusal, withBody, id); err != nil {
		return 0, err
	}
	return len(answer), nil
}

// refusalsByStatus maps the start of the status line, without the version and the cause.
var refusalsByStatus = map[string]problem{
	"400 Bad Request":                     newProblem(400, "malformed_request", "the request is not well-formed HTTP/1.1"),
	"417 Expectation Failed":              newProblem(417, "expectation_failed", "the only supported value of the header Expect is 100-continue; leave the header out"),
	"431 Request Header Fields Too Large": newProblem(431, "headers_too_large", "the URL and the headers together must have at most 32768 bytes"),
	"501 Not Implemented":                 newProblem(501, "unsupported_transfer_encoding", "send the body with a Content-Length, or with Transfer-Encoding: chunked"),
	"505 HTTP Version Not Supported":      newProblem(505, "unsupported_http_version", "send the request with HTTP/1.1"),
}

// refusalIn detects a response that net/http wrote without a handler: it has no request id (see [Wrap]). withBody is
// false for the response to a HEAD.
func refusalIn(answer []byte) (refusal problem, withBody, is bool) {
	const version, longest = len("HTTP/1.1 "), 512
	if len(answer) <= version || len(answer) > longest || !bytes.HasPrefix(answer, []byte("HTTP/1.")) || answer[version] < '4' {
		return problem{}, false, false
	}
	head, _, whole := strings.Cut(string(answer), "\r\n\r\n")
	line, headers, _ := strings.Cut(head, "\r\n")
	if len(line) <= version {
		return problem{}, false, false
	}
	status, cause, _ := strings.Cut(line[version:], ": ")
	refusal, known := refusalsByStatus[status]
	if !whole || !known || strings.Contains(headers, requestIDHeader+": ") {
		return problem{}, false, false
	}
	if refusal.Status == http.StatusBadRequest && cause != "" {
		refusal.Detail += ": " + cause
	}
	// A rejection in plain text has a Content-Type. The 417 has no text, and a Content-Length of 0 unless it answers a
	// HEAD.
	withBody = strings.Contains(headers, "Content-Type: ") || strings.Contains(headers, "Content-Length: ")
	return refusal, withBody, true
}

func writeRefusal(w io.Writer, refusal problem, withBody bool, requestID string) error {
	body, err := json.Marshal(refusal)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/problem+json"}, requestIDHeader: {requestID}}
	guard(header)
	if refusal.Status == http.StatusServiceUnavailable {
		header.Set("Retry-After", "1")
	}
	response := http.Response{
		StatusCode: refusal.Status, ProtoMajor: 1, ProtoMinor: 1, Header: header, Close: true,
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}
	if !withBody {
		response.Request = &http.Request{Method: http.MethodHead}
	}
	return response.Write(w)
}
