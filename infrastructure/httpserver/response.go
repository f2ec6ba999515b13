package httpserver

import (
	"bufio"
	"net"
	"net/http"
)

// Response is an [http.ResponseWriter] that records the status.
type Response struct {
	http.ResponseWriter
	status int
}

// Record returns w as a Response; if w already is one, w itself.
func Record(w http.ResponseWriter) *Response {
	if response, ok := w.(*Response); ok {
		return response
	}
	return &Response{ResponseWriter: w}
}

// Status returns the status; 101 for a hijacked connection, and 200 if nothing was written yet.
func (r *Response) Status() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

// Written reports whether the response has begun.
func (r *Response) Written() bool { return r.status != 0 }

// WriteHeader implements [http.ResponseWriter]. Informational statuses except 101 do not end the header.
func (r *Response) WriteHeader(status int) {
	if r.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (r *Response) Write(body []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(body)
}

// Flush implements [http.Flusher] for handlers that stream.
func (r *Response) Flush() {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	_ = http.NewResponseController(r.ResponseWriter).Flush()
}

// Hijack implements [http.Hijacker] for WebSockets.
func (r *Response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffer, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil {
		r.status = http.StatusSwitchingProtocols
	}
	return conn, buffer, err
}

// Unwrap lets [http.ResponseController] reach the connection.
func (r *Response) Unwrap() http.ResponseWriter { return r.ResponseWriter }
