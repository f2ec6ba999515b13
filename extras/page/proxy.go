package page

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"example.com/threads/infrastructure/httpserver"
)

// proxy passes requests through to a program, WebSockets and event streams included. The program's response headers are
// passed through unchanged.
type proxy struct {
	name     string
	target   *url.URL
	stopping context.Context // ends streams; other requests are finished
	log      *slog.Logger
}

func (p proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, end := context.WithCancel(r.Context())
	defer end()
	controller := http.NewResponseController(w)
	_ = controller.SetReadDeadline(time.Now().Add(uploadTimeout))
	// Or else net/http ends the request's body when the answer begins. If the transport has not met the end of the body
	// by then, it closes the connection to the program, and the rest of the answer is lost.
	_ = controller.EnableFullDuplex()
	if httpserver.IsStream(r) {
		defer context.AfterFunc(p.stopping, end)()
		_ = controller.SetWriteDeadline(time.Time{}) // without it the stream ends at the deadline
		if r.ContentLength == 0 {
			_ = controller.SetReadDeadline(time.Time{}) // the server reads to see whether the client has gone
		}
	}
	forward := httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(p.target)
			request.Out.Host = r.Host // the read-api compares it with the origin
			request.Out.Header["X-Forwarded-For"] = r.Header["X-Forwarded-For"]
			request.SetXForwarded()
		},
		ModifyResponse: func(*http.Response) error {
			clear(w.Header()) // of our own security headers: the program sets its own
			return nil
		},
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler:  p.fail,
		ErrorLog:      slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
	}
	forward.ServeHTTP(w, r.WithContext(ctx))
}

// uploadTimeout limits how long a body may take, such as the file of an import.
const uploadTimeout = 15 * time.Second

// transport keeps connections to the programs open. The programs limit them.
var transport = &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: 25 * time.Second}

func (p proxy) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client has disconnected, or the server stops
	}
	p.log.WarnContext(r.Context(), "a program behind the page does not answer", "program", p.name, "url", p.target.String(), "error", err)
	w.Header().Set("Retry-After", "1")
	httpserver.WriteProblem(w, http.StatusServiceUnavailable, "program_unavailable",
		"the "+p.name+" does not answer; the outcome of a command is unknown: send it again with the same Idempotency-Key")
}
