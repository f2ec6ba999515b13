package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// The bounds on what a client can hold open. A handler that streams moves its own deadlines with
// [http.ResponseController].
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 32 << 10

	// gracePeriod is how long requests may take once the server stops. It is below the ten seconds after which Docker and
	// ECS kill a container.
	gracePeriod = 8 * time.Second
)

// Server is a listening HTTP server. Make one with [Listen]; [Server.Serve] or [Server.Close] ends it.
type Server struct {
	// MaxConnections is how many connections may be open at once, to be set before Serve; 0: any number.
	MaxConnections int

	listener net.Listener
	log      *slog.Logger
	grace    time.Duration
}

// Listen opens address, such as ":28080"; port 0 takes any free one, which [Server.Addr] tells. setting is the name of
// the environment variable that address comes from, for the error of an address that can't be had.
func Listen(ctx context.Context, log *slog.Logger, setting, address string) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("address %s is in use: stop the program that listens there, or set %s to another address: %w", address, setting, err)
	case err != nil:
		return nil, fmt.Errorf("can't listen on %s: set %s to host:port of this machine, such as :28080 or 127.0.0.1:0: %w", address, setting, err)
	}
	return &Server{listener: listener, log: log, grace: gracePeriod}, nil
}

// Addr is the address that the server listens on, with its real port.
func (s *Server) Addr() *net.TCPAddr { return s.listener.Addr().(*net.TCPAddr) }

// URL is where a client on this machine reaches the server, without a slash at the end.
func (s *Server) URL() string {
	host, addr := "localhost", s.Addr()
	if !addr.IP.IsUnspecified() {
		host = addr.IP.String()
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(addr.Port))
}

// Close gives the address back when Serve is never called.
func (s *Server) Close() error { return s.listener.Close() }

// Serve answers requests with handler, inside [Wrap], until ctx ends. Then it accepts no more and returns when every
// accepted request has been answered, which it waits for no longer than the grace period; what still runs then is cut
// off, and that is an error. A request whose body has not arrived is not accepted, and waited for but a moment. The requests' contexts do not end with ctx: a handler that streams without an end has to
// watch for the stop itself.
func (s *Server) Serve(ctx context.Context, handler http.Handler) error {
	requests, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	var running tracker
	open := &connections{most: s.MaxConnections, open: map[*connection]struct{}{}}
	server := &http.Server{
		Handler:           running.track(awaitBodies(Wrap(s.log, handler))),
		BaseContext:       func(net.Listener) context.Context { return requests },
		ConnContext:       withConnection,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(refusals{s.listener, s.log, open}) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve HTTP on %s: %w", s.Addr(), err)
	case <-ctx.Done():
	}

	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
	defer cancel()
	open.stop()
	err := server.Shutdown(grace)
	<-failed //nolint:errcheck // after Shutdown it is http.ErrServerClosed
	if err == nil {
		err = running.wait(grace) // connections that were hijacked, such as WebSockets, which Shutdown does not know
	}
	if err != nil {
		cutOff()
		return errors.Join(fmt.Errorf("requests were still running %s after the stop and have been cut off: %w", s.grace, err), server.Close())
	}
	return nil
}

// tracker knows how many handlers run.
type tracker struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // made by wait, closed when running becomes 0
}

func (t *tracker) track(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.add(1)
		defer t.add(-1)
		next.ServeHTTP(w, r)
	})
}

func (t *tracker) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running += n; t.running == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

// wait returns when no handler runs, or with the reason that ctx ended before. Nothing new may start by then.
func (t *tracker) wait(ctx context.Context) error {
	t.mu.Lock()
	if t.running == 0 {
		t.mu.Unlock()
		return nil
	}
	idle := make(chan struct{})
	t.idle = idle
	t.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
