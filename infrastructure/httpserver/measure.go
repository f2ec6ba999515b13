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

// NewDurations returns http_request_duration_seconds by method, route and status. The route is the pattern of a
// [chi.Router]. Streams (WebSockets and server-sent events) are not measured, because their duration depends on the
// client.
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
