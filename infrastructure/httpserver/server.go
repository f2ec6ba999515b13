// Package httpserver serves HTTP for all programs: one listener with timeouts, request ids, one log line per request,
// recovery from panics, security headers, health and metrics, and a stop that completes accepted requests.
//
// Handlers of interfaceadaptor do not know this package: [Wrap] puts the request id into the header X-Request-Id.
package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/semaphore" // extra:page|websocket
	"golang.org/x/sync/singleflight"
)

// Limits on what a client can hold open. A handler that streams sets its own deadlines with [http.ResponseController].
const (
	readTimeout    = 5 * time.Second // shorter than gracePeriod, so that what never arrives ends before
	writeTimeout   = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 32<<10 - 4<<10 // net/http takes 4 KiB more

	// gracePeriod is how long requests may continue after the stop. Docker and ECS kill a container after ten seconds.
	gracePeriod = 8 * time.Second
)

// Server is a listening HTTP server. Create it with [Listen] and end it with [Server.Serve] or [Server.Close].
type Server struct {
	// Prepare, unless nil, returns the listener that the server accepts from. Set it before Serve. // extra:access|limits {
	Prepare func(net.Listener) net.Listener // extra:access|limits }
	Tracer  trace.Tracer                    // of the requests; nil: no traces. Set it before Serve.
	// Around wraps the handler, the first one outermost. Set it before Serve. // extra:access|observe|replica|tenants {
	Around  []func(http.Handler) http.Handler // extra:access|observe|replica|tenants }
	Reports []func(context.Context, *Health)  // make the answer of /health/ready
	// Notes are further facts about the program, by name: members of its health responses.
	Notes map[string]string

	listener  net.Listener
	log       *slog.Logger
	durations *prometheus.HistogramVec // nil: requests are not measured
	grace     time.Duration
	checking  singleflight.Group // of /health/ready
}

// Listen listens on address, such as ":28080". Port 0 takes any free port. setting is the variable that errors name.
func Listen(ctx context.Context, log *slog.Logger, setting, address string) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("address %s is in use: stop the program that listens there, or set %s to another address: %w", address, setting, err)
	case err != nil:
		return nil, fmt.Errorf("can't listen on %s: set %s to host:port of this machine, such as :28080 or 127.0.0.1:0: %w", address, setting, err)
	}
	return &Server{listener: listener, log: log, grace: gracePeriod, Notes: map[string]string{}}, nil
}

// Addr returns the address that the server listens on, with its actual port.
func (s *Server) Addr() *net.TCPAddr { return s.listener.Addr().(*net.TCPAddr) }

// URL returns the server's URL for clients on this machine, without a slash at the end.
func (s *Server) URL() string {
	host, addr := "localhost", s.Addr()
	if !addr.IP.IsUnspecified() {
		host = addr.IP.String()
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(addr.Port))
}

// Close releases the address if Serve is never called.
func (s *Server) Close() error { return s.listener.Close() }

// Serve handles requests with handler, inside [Wrap], until ctx ends. Then it accepts no more requests, and returns
// when all accepted ones are answered or the grace period is over. Requests that still run then are aborted, which is
// an error. The requests' contexts do not end with ctx: a handler that streams must watch for the stop itself.
func (s *Server) Serve(ctx context.Context, handler http.Handler) error {
	requests, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	for _, around := range slices.Backward(s.Around) { // extra:access|observe|replica|tenants {
		handler = around(handler)
	} // extra:access|observe|replica|tenants }
	handler = Wrap(s.log, s.Tracer, s.durations, handler)
	running := semaphore.NewWeighted(math.MaxInt64) // extra:page|websocket {
	handler = counted(running, handler)             // extra:page|websocket }
	server := &http.Server{
		Handler:     handler,
		BaseContext: func(net.Listener) context.Context { return requests },
		ErrorLog:    slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
	listener := s.listener
	if s.Prepare != nil { // extra:access|limits {
		listener = s.Prepare(listener)
	} // extra:access|limits }
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve HTTP on %s: %w", s.Addr(), err)
	case <-ctx.Done():
	}

	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
	defer cancel()
	err := server.Shutdown(grace)
	<-failed        //nolint:errcheck // after Shutdown it is http.ErrServerClosed
	if err == nil { // extra:page|websocket {
		err = running.Acquire(grace, math.MaxInt64)
	} // extra:page|websocket }
	if err != nil {
		cutOff()
		return errors.Join(fmt.Errorf("requests were still running %s after the stop and were aborted: %w", s.grace, err), server.Close())
	}
	return nil
}

// counted counts the running requests: Shutdown ignores hijacked connections, such as WebSockets. // extra:page|websocket {
func counted(running *semaphore.Weighted, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if running.TryAcquire(1) {
			defer running.Release(1)
		}
		next.ServeHTTP(w, r)
	})
} // extra:page|websocket }
