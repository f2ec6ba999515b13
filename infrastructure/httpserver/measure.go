package httpserver

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// NewRegistry returns a registry of metrics, with those of the process and Go's runtime. A program passes it to
// everything that counts; there is no global one.
func NewRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// Metrics answers /metrics.
func Metrics(registry *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry})
}

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

// Measure measures the requests to next as http_request_duration_seconds by method, route and status, and names their
// spans. The route is the pattern of the router that next is or wraps. Streams (WebSockets and server-sent events) are
// not measured, because their duration depends on the client.
//
// A panic is passed on. A request that panics before its response is counted as status 500, which is what [Wrap] sends;
// so is a connection that [http.ErrAbortHandler] drops.
func Measure(registry prometheus.Registerer, next http.Handler) http.Handler {
	durations := promauto.With(registry).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "http_request_duration_seconds",
		Help:    "Time from the request's header to the end of the response, without streams.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"method", "route", "status"})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response, is := w.(middleware.WrapResponseWriter) // it is Wrap's, unless next is served without
		if !is {
			response = middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		}
		ctx, matched := withRoute(r)
		started, returned := time.Now(), false
		defer func() {
			route := matched.RoutePattern()
			nameSpan(r, route)
			status := statusOf(response)
			if !returned && response.Status() == 0 {
				status = http.StatusInternalServerError
			} else if status == http.StatusSwitchingProtocols || strings.HasPrefix(response.Header().Get("Content-Type"), "text/event-stream") {
				return
			}
			method := r.Method
			if !slices.Contains(methods, method) {
				method = "other"
			}
			durations.WithLabelValues(method, cmp.Or(route, "other"), strconv.Itoa(status)).Observe(time.Since(started).Seconds())
		}()
		next.ServeHTTP(response, r.WithContext(ctx))
		returned = true
	})
}
