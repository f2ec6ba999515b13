package httpserver

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

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

// Measure returns a middleware that measures requests as http_request_duration_seconds by method, route and status, and
// names their spans. route returns the route of a request; it is called after the response, and its values must be few
// (a router's pattern, never the path). Streams (WebSockets and server-sent events) are not measured, because their
// duration depends on the client.
//
// A panic is passed on. A request that panics before its response is counted as status 500, which is what [Wrap] sends;
// so is a connection that [http.ErrAbortHandler] drops.
func Measure(registry prometheus.Registerer, route func(*http.Request) string) func(http.Handler) http.Handler {
	durations := promauto.With(registry).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "http_request_duration_seconds",
		Help:    "Time from the request's header to the end of the response, without streams.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"method", "route", "status"})
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			started, response, returned := time.Now(), Record(w), false
			defer func() {
				name, status := route(r), response.Status()
				nameSpan(r, name)
				if !returned && !response.Written() {
					status = http.StatusInternalServerError
				} else if isStream(response) {
					return
				}
				method := r.Method
				if !slices.Contains(methods, method) {
					method = "other"
				}
				durations.WithLabelValues(method, cmp.Or(name, "other"), strconv.Itoa(status)).Observe(time.Since(started).Seconds())
			}()
			next.ServeHTTP(response, r)
			returned = true
		})
	}
}

func isStream(response *Response) bool {
	return response.Status() == http.StatusSwitchingProtocols ||
		strings.HasPrefix(response.Header().Get("Content-Type"), "text/event-stream")
}
