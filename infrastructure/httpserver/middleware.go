package httpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

const (
	requestIDHeader = "X-Request-Id"
	tenantHeader    = "X-Tenant-Code"

	maxRequestID = 128
	maxLogged    = 256 // maximum bytes of a client's value in a log line
)

// Wrap gives every request an id, a log line and recovery from panics. It gives every response headers that prevent
// browsers from guessing its type and from caching it; a handler whose response may be cached sets its own
// Cache-Control. The log level is info, but debug for successful health and metrics requests.
//
// The id is the client's X-Request-Id if it has 1 to 128 visible ASCII characters, otherwise a new one. It is in the
// header of the request, for the handler, and of the response, for the client. Log lines with the request's context
// contain it as request_id, and the trace as trace_id: that of a traceparent header, or a new one with a tracer, which
// may be nil: then there are no spans. durations are those of [NewDurations], or nil.
func Wrap(log *slog.Logger, tracer trace.Tracer, durations *prometheus.HistogramVec, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		id := requestID(r)
		r.Header.Set(requestIDHeader, id)
		w.Header().Set(requestIDHeader, id)
		maps.Copy(w.Header(), guards)

		ctx, span := startSpan(context.WithValue(r.Context(), middleware.RequestIDKey, id), tracer, r)
		route := chi.NewRouteContext() // the router fills it in
		r = r.WithContext(context.WithValue(ctx, chi.RouteCtxKey, route))
		response := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			aborted := answerPanic(log, response, r, recover())
			status := cmp.Or(response.Status(), http.StatusOK)
			if aborted && response.Status() == 0 {
				status = http.StatusInternalServerError
			}
			endSpan(span, r, route.RoutePattern(), status)
			measure(durations, r, route.RoutePattern(), status, response.Header(), time.Since(started))
			level := slog.LevelInfo
			if isRoutine(r) && status < http.StatusBadRequest {
				level = slog.LevelDebug // because machines send them every few seconds
			}
			log.LogAttrs(r.Context(), level, "request",
				slog.String("method", cut(r.Method)),
				slog.String("path", cut(r.URL.Path)),
				slog.Int("status", status),
				slog.Float64("duration_ms", float64(time.Since(started).Microseconds())/1000),
				slog.String("tenant", cut(r.Header.Get(tenantHeader))))
			if aborted {
				panic(http.ErrAbortHandler) // the client must notice that the response is incomplete
			}
		}()
		next.ServeHTTP(response, r)
	})
}

// guards keep browsers from guessing what an answer is, from storing it and from embedding it; pages may need more.
var guards = http.Header{
	"X-Content-Type-Options":       {"nosniff"},
	"Cache-Control":                {"no-store"},
	"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Referrer-Policy":              {"no-referrer"},
}

// IsStream reports whether the answer of a request continues until one side ends it. Who also takes JSON is taken for a
// client that gets that, as nearly all are.
func IsStream(r *http.Request) bool {
	accepted := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	return r.Header.Get("Upgrade") != "" || strings.Contains(accepted, "text/event-stream") && !strings.Contains(accepted, "json")
}

func isRoutine(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/health/") || r.URL.Path == "/metrics"
}

// answerPanic logs a panic and answers with a problem. It returns true if the connection must be dropped instead.
func answerPanic(log *slog.Logger, response middleware.WrapResponseWriter, r *http.Request, reason any) (aborted bool) {
	if reason == nil || reason == http.ErrAbortHandler { //nolint:errorlint // net/http compares it in the same way
		return reason != nil
	}
	log.ErrorContext(r.Context(), "panic while answering a request", "panic", reason, "stack", string(debug.Stack()))
	if response.Status() != 0 {
		return true
	}
	header := response.Header()
	maps.Copy(header, guards) // replaces the headers of the failed response
	header.Del("Content-Length")
	WriteProblem(response, http.StatusInternalServerError, "internal", "an internal error occurred; it was logged with the X-Request-Id of this response")
	return false
}

func requestID(r *http.Request) string {
	id := r.Header.Get(requestIDHeader)
	unusable := func(c rune) bool { return c <= ' ' || c > '~' }
	if id == "" || len(id) > maxRequestID || strings.ContainsFunc(id, unusable) {
		return rand.Text()
	}
	return id
}

func cut(text string) string { return text[:min(len(text), maxLogged)] }

// NewDurations returns http_request_duration_seconds by method, route (the pattern of a [chi.Router]) and status.
// Streams (WebSockets and server-sent events) are not measured: their duration depends on the client.
func NewDurations(registry prometheus.Registerer) *prometheus.HistogramVec {
	return promauto.With(registry).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "http_request_duration_seconds",
		Help:    "Time from the request's header to the end of the response, without streams.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"method", "route", "status"})
}

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

func measure(durations *prometheus.HistogramVec, r *http.Request, route string, status int, answer http.Header, took time.Duration) {
	if durations == nil || status == http.StatusSwitchingProtocols || strings.HasPrefix(answer.Get("Content-Type"), "text/event-stream") {
		return
	}
	method := r.Method
	if !slices.Contains(methods, method) {
		method = "other"
	}
	durations.WithLabelValues(method, cmp.Or(route, "other"), strconv.Itoa(status)).Observe(took.Seconds())
}

// startSpan returns the context with the traceparent, and a span, which records nothing for health checks and streams.
func startSpan(ctx context.Context, tracer trace.Tracer, r *http.Request) (context.Context, trace.Span) {
	if r.Header.Get("Traceparent") != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	if tracer == nil || isRoutine(r) || IsStream(r) {
		return ctx, noop.Span{}
	}
	ctx, span := tracer.Start(ctx, cut(r.Method), trace.WithSpanKind(trace.SpanKindServer))
	if span.IsRecording() {
		span.SetAttributes(attribute.String("http.request.method", cut(r.Method)), attribute.String("url.path", cut(r.URL.Path)))
	}
	return ctx, span
}

// endSpan names the span by the request's method and route, which is known after the response.
func endSpan(span trace.Span, r *http.Request, route string, status int) {
	if span.IsRecording() {
		if route != "" {
			span.SetName(cut(r.Method) + " " + route)
			span.SetAttributes(attribute.String("http.route", route))
		}
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(status))
		}
	}
	span.End()
}
