package httpserver

import (
	"bufio"
	"net"
	"net/http"
)

// Response is an [http.ResponseWriter] that remembers what was answered.
type Response struct {
	http.ResponseWriter
	status int
}

// Record returns w as a Response: w itself if it is one.
func Record(w http.ResponseWriter) *Response {
	if response, ok := w.(*Response); ok {
		return response
	}
	return &Response{ResponseWriter: w}
}

// Status is the status that was answered; 101 for a connection that was taken over, and 200 as long as nothing was written.
func (r *Response) Status() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

// Written tells that the answer has begun.
func (r *Response) Written() bool { return r.status != 0 }

// WriteHeader implements [http.ResponseWriter]. Informational statuses other than 101 leave the answer open.
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

// Flush implements [http.Flusher] for writers of streams that ask for it.
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
