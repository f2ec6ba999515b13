package metrics

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/infrastructure/httpserver"
)

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

// HTTP returns a middleware that measures requests as http_request_duration_seconds by method, route and status. route
// returns the route of a request; it is called after the response, and its values must be few (a router's pattern,
// never the path). Streams (WebSockets and server-sent events) are not measured, because their duration depends on the
// client.
//
// A panic is passed on. A request that panics before its response is counted as status 500, which is what
// [httpserver.Wrap] sends; so is a connection that [http.ErrAbortHandler] drops.
func HTTP(registry prometheus.Registerer, route func(*http.Request) string) func(http.Handler) http.Handler {
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "http_request_duration_seconds",
		Help:    "Time from the request's header to the end of the response, without streams.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"method", "route", "status"})
	registry.MustRegister(durations)

	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			started := time.Now()
			response := httpserver.Record(w)
			returned := false
			defer func() {
				status := response.Status()
				if !returned && !response.Written() {
					status = http.StatusInternalServerError
				} else if isStream(response) {
					return
				}
				method := r.Method
				if !slices.Contains(methods, method) {
					method = "other"
				}
				durations.WithLabelValues(method, routeOrOther(route(r)), strconv.Itoa(status)).Observe(time.Since(started).Seconds())
			}()
			next.ServeHTTP(response, r)
			returned = true
		})
	}
}

func isStream(response *httpserver.Response) bool {
	return response.Status() == http.StatusSwitchingProtocols ||
		strings.HasPrefix(response.Header().Get("Content-Type"), "text/event-stream")
}

func routeOrOther(route string) string {
	if route == "" {
		return "other"
	}
	return route
}
